// Package transitions changes specs again and again, as they are drawn from the schemas of the CRDs, in virtual time. What an API server
// refuses changes nothing and the field is named. What it takes leads to where a cluster would be that was made by the last spec: every
// property of every resource in Azure is the same, or a condition says why not.
//
// Each sequence can be written down: testdata has those that once led elsewhere. -rapid.checks tells how many are drawn, -rapid.seed
// which ones.
package transitions
