// Package inspect finds the virtual machine of a Machine, its serial console log and the way to its SSH server, and collects the objects of
// a cluster into a bundle without secrets.
//
// It sends only requests that read, to the management cluster and to Azure, except for the request for boot diagnostics, which changes
// nothing. Everything that it reads is bounded.
package inspect

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	armclient "sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
)

// providerPrefix begins the provider IDs of machines on Azure.
const providerPrefix = "azure://"

// Machine is a machine with a virtual machine.
type Machine struct {
	Name string
	// VM is the virtual machine, or the instance of a scale set.
	VM arm.ID
}

// FindMachine finds a Machine, AzureMachine or AzureMachinePoolMachine by name.
func FindMachine(ctx context.Context, c client.Reader, key client.ObjectKey) (*Machine, error) {
	for _, object := range []client.Object{&clusterv1.Machine{}, &infrav1.AzureMachine{}, &infrav1.AzureMachinePoolMachine{}} {
		if err := c.Get(ctx, key, object); apierrors.IsNotFound(err) {
			continue
		} else if err != nil {
			return nil, err
		}
		providerID := ""
		switch object := object.(type) {
		case *clusterv1.Machine:
			if providerID = object.Spec.ProviderID; providerID == "" && object.Spec.InfrastructureRef.Name != key.Name {
				return FindMachine(ctx, c, client.ObjectKey{Namespace: key.Namespace, Name: object.Spec.InfrastructureRef.Name})
			}
			if providerID == "" {
				continue // Its AzureMachine knows why.
			}
		case *infrav1.AzureMachine:
			if object.Spec.ProviderID != nil {
				providerID = *object.Spec.ProviderID
			}
		case *infrav1.AzureMachinePoolMachine:
			providerID = object.Spec.ProviderID
		}
		id, is := strings.CutPrefix(providerID, providerPrefix)
		if !is || arm.ID(id).Subscription() == "" {
			return nil, fmt.Errorf("%T %s has no virtual machine yet%s", object, key, describeReady(object))
		}
		return &Machine{Name: key.Name, VM: arm.ID(id)}, nil
	}
	return nil, fmt.Errorf("there is no Machine, AzureMachine or AzureMachinePoolMachine %s. List them with kubectl get machines --namespace %s", key.Name,
		key.Namespace)
}

func describeReady(object client.Object) string {
	getter, is := object.(conditions.Getter)
	if !is {
		return ""
	}
	if ready := conditions.Get(getter, infrav1.ReadyCondition); ready != nil && ready.Message != "" {
		return ": " + ready.Reason + ": " + ready.Message
	}
	return ""
}

// The api-versions of the requests. Instances of scale sets have the version of scale sets.
const (
	computeAPIVersion = "2024-07-01"
	networkAPIVersion = "2024-05-01"
	// instanceNetworkAPIVersion is that of the interfaces of uniform scale sets.
	// https://learn.microsoft.com/rest/api/virtualnetwork/network-interface-in-vm-ss/get-virtual-machine-scale-set-network-interface
	instanceNetworkAPIVersion = "2018-10-01"
)

// virtualMachine has the properties of a VM or an instance that the verbs need.
type virtualMachine struct {
	Properties struct {
		NetworkProfile struct {
			NetworkInterfaces []struct {
				ID arm.ID `json:"id"`
			} `json:"networkInterfaces"`
		} `json:"networkProfile"`
		OSProfile struct {
			AdminUsername        string          `json:"adminUsername"`
			WindowsConfiguration json.RawMessage `json:"windowsConfiguration"`
		} `json:"osProfile"`
		DiagnosticsProfile struct {
			BootDiagnostics struct {
				Enabled bool `json:"enabled"`
			} `json:"bootDiagnostics"`
		} `json:"diagnosticsProfile"`
	} `json:"properties"`
}

// readResource reads a resource into a body.
func readResource(ctx context.Context, c *armclient.Client, id arm.ID, into any) error {
	version := networkAPIVersion
	switch {
	case strings.Contains(id.Key(), "/virtualmachinescalesets/") && strings.Contains(id.Key(), "/networkinterfaces/"):
		version = instanceNetworkAPIVersion
	case strings.Contains(id.Key(), "/providers/microsoft.compute/"):
		version = computeAPIVersion
	}
	response, err := c.Get(ctx, id, version, nil)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(response.Body, into); err != nil {
		return fmt.Errorf("%s: %w", id.ShortName(), err)
	}
	return nil
}
