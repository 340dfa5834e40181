// Package types says how each Azure resource type behaves, as data: one row per type.
//
// The engine has no code for any type; what differs between types is a column here. A row cites the Microsoft Learn page
// or recorded traffic where the value is not plain from the type's REST reference. A type without
// a row behaves as Azure's published definitions and the rules of Resource Manager say; one without either is refused by Of,
// so a plan cannot use it by accident.
package types
