// Command armschema reads the source of Azure's SDK and writes the information that Azure's definitions of resource
// types (sim/definitions/) lack: the notes of internal/plan/aks/armschema on defaults, formats and fields that cannot
// change, and the table in internal/arm/types of case-insensitive strings.
//
// It reads two versions of the module armcontainerservice: the one that go.mod requires, whose api-version plans use,
// and a beta with the comments on preview properties. The beta is read as source text only, so that it never becomes a
// dependency. Both come from the module cache if it has them.
package main
