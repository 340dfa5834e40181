package command

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/kubernetes"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/management"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/manifests"
)

// checkManifests returns an error if the manifests of a plan without a management cluster describe nothing in Azure. Their plan would have no
// changes, as that of a cluster that is as described.
func (f *flags) checkManifests(objects []client.Object) error {
	if len(f.files) == 0 || f.live {
		return nil
	}
	return checkPlanned(objects, manifests.ErrNoCluster)
}

// checkApplied returns an error if the manifests of --live have no object that a plan reads. A Secret or a Namespace alone may change the plan
// of the objects of the management cluster.
func (f *flags) checkApplied(applied []client.Object) error {
	if len(f.files) > 0 && len(applied) == 0 {
		return manifests.ErrNoCluster
	}
	return nil
}

// checkScope returns an error if a scope has nothing to plan, because users then usually mean another one.
func checkScope(scope management.Scope, objects []client.Object) error {
	if scope.Namespace == "" {
		return checkPlanned(objects, errors.New("no namespace has an object of a cluster. Select the management cluster with --kubeconfig and --context"))
	}
	return checkPlanned(objects, fmt.Errorf(
		"the namespace %s has no object of a cluster. Select another namespace with --namespace, or all namespaces with --all-namespaces", scope.Namespace))
}

// checkPlanned returns nothing if one of the objects is planned, and otherwise the error.
func checkPlanned(objects []client.Object, nothing error) error {
	scheme, err := kubernetes.NewScheme()
	if err != nil {
		return err
	}
	for _, object := range objects {
		planned, err := isPlanned(scheme, object)
		if planned || err != nil {
			return err
		}
	}
	return nothing
}

// isPlanned reports whether an object is of Cluster API or of this provider and describes a part of a cluster. An identity does not, and those
// of all namespaces are read.
func isPlanned(scheme *runtime.Scheme, object client.Object) (bool, error) {
	kind, err := apiutil.GVKForObject(object, scheme)
	return kind.Group != corev1.GroupName && kind.Kind != identity.Kind, err
}
