// Command armschema writes, from the source of Azure's SDK, what Azure's definitions of resource types (definitions/) do not
// tell: the notes of internal/plan/aks/armschema on defaults, formats and what cannot change, and the table of
// internal/arm/types that tells which text has no case.
//
// Of the module armcontainerservice it reads two versions: the one go.mod requires, whose api-version is the one plans
// speak, and a beta, whose comments tell of what previews add. The beta is read as source text only, so that
// it never becomes a dependency. Both come from the module cache when they are there.
package main
