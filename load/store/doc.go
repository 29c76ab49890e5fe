// Package store is where the lake's objects lie: a small interface over folders, memory and
// S3-compatible storage.
//
// Takes: keys with forward slashes, relative to the store's root, and bodies.
// Gives: objects as they were put, whole or not at all.
// Keeps: an object is visible only when it is complete and durable; a create-only put has exactly one
// winner; listing is in key order. Probe finds a store that cannot keep the second.
// Fails: ErrNotFound, ErrExists, ErrChanged; anything else names the key and what was being done.
// May change here: another kind of storage is one more folder that passes storetest.
package store
