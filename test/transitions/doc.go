// Package transitions changes specs again and again, as they are drawn from the schemas of the CRDs, in virtual time. A
// manifest that an API server refuses changes nothing, and the refusal names the field. An accepted one leads to the
// same resources as a cluster that was created with the last spec: every property of every resource in Azure is the
// same, or a condition names the reason.
//
// Each sequence can be written down: testdata has those that once led to other resources. -rapid.checks is the number
// of drawn sequences, -rapid.seed selects them.
package transitions
