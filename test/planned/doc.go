// Package planned checks that plans name the writes that managers then make. A Step is a plan, and the writes that a manager makes after
// it. Scenarios of test/virtual plan each of their steps with it, so that every story in virtual time is a proof of plans.
package planned
