// Package installation_test tests ways to install a release other than clusterctl, with the libraries of Helm and the types of the Cluster API
// operator.
package installation_test
