package repository

import "sigs.k8s.io/cluster-api/test/framework/clusterctl"

// Transformations change templates for a cloud.
func Transformations(cloud string) []clusterctl.RepositoryFileTransformation { return nil }
