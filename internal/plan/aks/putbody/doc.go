// Package putbody builds the bodies of PUTs of managed clusters and agent pools from planned bodies. AKS keeps the properties that a PUT
// leaves out, so a value that is no longer planned has to be reset.
//
// The package is pure: every function depends on its arguments only.
package putbody
