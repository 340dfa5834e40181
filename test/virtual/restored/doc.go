// Package restored restores the objects of clusters of all kinds from backups of their management cluster. Time is virtual.
package restored
