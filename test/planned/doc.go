// Package planned holds that plans name the writes that the manager then makes.
package planned
