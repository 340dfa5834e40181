// Package types has the behaviour of each Azure resource type as data: one row per type.
//
// The engine has no code for any type; the differences between types are columns here. A row cites the Microsoft Learn page or recorded
// traffic if the type's REST reference does not show the value. A type without a row behaves as Azure's published definitions and the
// rules of Resource Manager define. ForID refuses a type without either, so a plan cannot use it by accident. The exceptions are the few
// types of manifests that are sent unchecked.
package types
