// Command armschema writes the property tables of internal/plan/managed/armschema from the source of Azure's SDK.
//
// It reads two versions of the module armcontainerservice: the one go.mod requires, whose api-version is the one plans
// speak, and a beta, whose api-version spec.enablePreviewFeatures asks for. The beta is read as source text only, so that
// it never becomes a dependency. Both come from the module cache when they are there.
package main
