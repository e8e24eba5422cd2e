//! Storage with typed handles: a handle stays valid until its item is removed,
//! and is then noticed to be stale.

use std::marker::PhantomData;

/// Names one item of type `T` in a world.
pub struct Handle<T> {
    index: u32,
    generation: u32,
    kind: PhantomData<fn() -> T>,
}

impl<T> Handle<T> {
    /// Position among its kind, as used in reports.
    pub fn index(&self) -> usize {
        self.index as usize
    }
}

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Handle<T> {}
impl<T> PartialEq for Handle<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.index, self.generation) == (other.index, other.generation)
    }
}
impl<T> Eq for Handle<T> {}
impl<T> std::fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "#{}.{}", self.index, self.generation)
    }
}

#[derive(Clone, Debug)]
struct Slot<T> {
    generation: u32,
    item: Option<T>,
}

/// Items with handles, in the order in which they were added.
#[derive(Clone, Debug)]
pub(crate) struct Slots<T> {
    slots: Vec<Slot<T>>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Slots { slots: Vec::new() }
    }
}

impl<T> Slots<T> {
    pub fn add(&mut self, item: T) -> Handle<T> {
        let free = self.slots.iter().position(|s| s.item.is_none());
        let index = free.unwrap_or(self.slots.len());
        if free.is_none() {
            self.slots.push(Slot {
                generation: 0,
                item: None,
            });
        }
        let slot = &mut self.slots[index];
        slot.item = Some(item);
        Handle {
            index: index as u32,
            generation: slot.generation,
            kind: PhantomData,
        }
    }

    pub fn remove(&mut self, handle: Handle<T>) -> Option<T> {
        let slot = self.slots.get_mut(handle.index())?;
        if slot.generation != handle.generation {
            return None;
        }
        let item = slot.item.take()?;
        slot.generation += 1;
        Some(item)
    }

    /// Removes all items for which `keep` is false.
    pub fn retain(&mut self, keep: impl Fn(&T) -> bool) {
        for slot in &mut self.slots {
            if slot.item.as_ref().is_some_and(|item| !keep(item)) {
                slot.item = None;
                slot.generation += 1;
            }
        }
    }

    pub fn get(&self, handle: Handle<T>) -> Option<&T> {
        self.slots
            .get(handle.index())
            .filter(|s| s.generation == handle.generation)?
            .item
            .as_ref()
    }

    pub fn get_mut(&mut self, handle: Handle<T>) -> Option<&mut T> {
        self.slots
            .get_mut(handle.index())
            .filter(|s| s.generation == handle.generation)?
            .item
            .as_mut()
    }

    /// The item in a place, whoever it is.
    pub fn by_index(&self, index: usize) -> Option<&T> {
        self.slots.get(index)?.item.as_ref()
    }

    /// The same, to change it.
    pub fn by_index_mut(&mut self, index: usize) -> Option<&mut T> {
        self.slots.get_mut(index)?.item.as_mut()
    }

    pub fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        self.slots
            .iter()
            .enumerate()
            .filter_map(|(i, s)| s.item.as_ref().map(|item| (i, item)))
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = (usize, &mut T)> {
        self.slots
            .iter_mut()
            .enumerate()
            .filter_map(|(i, s)| s.item.as_mut().map(|item| (i, item)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stale_handles_find_nothing() {
        let mut slots = Slots::default();
        let a = slots.add("a");
        let b = slots.add("b");
        assert_eq!(slots.remove(a), Some("a"));
        assert_eq!(slots.remove(a), None);
        let c = slots.add("c");
        assert_eq!(slots.get(a), None);
        assert_eq!(slots.get(b), Some(&"b"));
        assert_eq!(slots.get(c), Some(&"c"));
        assert_eq!(c.index(), a.index());
        assert_ne!(c, a);
    }
}
