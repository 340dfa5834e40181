// Package types says how each Azure resource type behaves, as data: one row per type.
//
// The engine has no code for any type; what differs between types is a column here. A row cites the Microsoft Learn page
// or recorded traffic where the value is not plain from the type's REST reference. Types without a row are refused by
// Of, so a plan cannot use one by accident.
package types
