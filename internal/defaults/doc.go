// Package defaults fills in fields that users leave out.
//
// The webhooks call it when an object is written. The controllers call it on a copy of every object that they read, because an object may
// have been stored before a default existed, or while no webhook was running. The functions are pure: the same object gets the same values,
// and an object that has them already does not change. Values that are random (SSH keys, names of role assignments) are no business of this
// package: only the webhooks set them, once, at creation.
package defaults
