// Package store defines how a lake's objects are stored: one small interface for folders, memory and S3-compatible
// storage.
//
// Takes: keys with forward slashes, relative to the store's root, and bodies.
// Gives: objects with exactly the bytes that were put.
// Keeps: an object is visible only when it is complete and durable. Of several create-only puts of one key, exactly one
// succeeds; Probe finds a store that does not keep this. Listings are in key order.
// Fails: ErrNotFound, ErrExists, ErrChanged; every other error names the key and the operation.
// May change here: a new kind of storage is one more package that passes storetest.
package store
