// Command armschema writes the property tables of internal/plan/managed/armschema, and the table of internal/arm/types that
// tells which text has no case, from the source of Azure's SDK.
//
// Of the module armcontainerservice it reads two versions: the one go.mod requires, whose api-version is the one plans
// speak, and a beta, whose api-version spec.enablePreviewFeatures asks for. The beta is read as source text only, so that
// it never becomes a dependency. Both come from the module cache when they are there.
package main
