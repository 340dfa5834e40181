// Package types says how each Azure resource type behaves, as data: one row per type.
package types
