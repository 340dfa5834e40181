// Package volumes tags the disks of volumes that are attached to VMs of a cluster before the VMs are deleted with the cluster:
// afterwards Azure no longer shows to which cluster the disks belonged. It does so only if the user requested the deletion of
// leftovers, and only in a resource group that is not the cluster's. Otherwise it sends no request.
//
// It sends one PATCH for each disk and returns until it has ended, and it may be repeated. A refused PATCH does not block the deletion
// of the VM: the disk then stays and is reported.
package volumes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/leftovers"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/ownership"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// maxDelay limits how long transient errors delay the deletion of a VM.
const maxDelay = 10 * time.Minute

// maxNamed limits how many disks a warning lists.
const maxNamed = 4

// Deletion is the deletion of a VM or scale set.
type Deletion struct {
	Facts   *facts.Facts
	Session reconcile.Session
	// Cluster is a substitute if ClusterGone is set. AzureCluster is nil for a pool that joined an AKS cluster.
	Cluster      *clusterv1.Cluster
	ClusterGone  bool
	AzureCluster *infrav1.AzureCluster
	// Since is the deletion timestamp of the object of the VM or scale set.
	Since *metav1.Time
	// Resource is the VM or the scale set. Flexible is set if the VMs of the scale set are resources of their own.
	Resource arm.ID
	Flexible bool
	// Planned are disks of the provider's own plan.
	Planned []arm.ID
}

// TagVolumes tags the attached disks of volumes. The error is a stopReason: the deletion has to wait. The warning lists the disks that
// could not be tagged.
func (d Deletion) TagVolumes(ctx context.Context) (warning string, err error) {
	if d.AzureCluster == nil || !leftovers.IsDeletionRequested(d.AzureCluster) || !d.deletesCluster() {
		return "", nil
	}
	busy := false
	// The end of each request wakes the object. It must not repeat a refused one before its retry is due.
	err = d.Facts.RunUnlessFailed(ctx, d.Session.Caller(), "tag volumes|"+d.Session.Name, func(ctx context.Context) (err error) {
		busy, err = d.tagDisks(ctx)
		return err
	})
	switch {
	case err != nil:
		return d.reportFailure(err)
	case busy:
		return "", reconcile.WaitFor(metav1.Condition{
			Status: metav1.ConditionFalse, Reason: infrav1.DeletingReason,
			Message: "The disks of volumes that are attached are tagged before " + d.Resource.ShortName() + " is deleted.",
		})
	}
	return "", nil
}

// tagDisks sends the requests, and returns true while any is running. The error is a tagError.
func (d Deletion) tagDisks(ctx context.Context) (busy bool, err error) {
	disks, err := d.findDisksToTag(ctx)
	if err != nil {
		return false, &tagError{cause: err}
	}
	failed := &tagError{}
	owner := ownership.OwnerTagValue(d.AzureCluster, d.Cluster.Name)
	for _, disk := range disks {
		result := d.Session.RunAction(ctx, newTagAction(disk, owner))
		switch {
		case result.Err != nil:
			failed.disks, failed.cause = append(failed.disks, disk.ShortName()), result.Err
		case result.State != arm.Ready:
			busy = true
		}
	}
	if busy || failed.cause == nil {
		return busy, nil
	}
	return false, failed
}

// tagError is the error of the requests. It lists the disks that were not tagged; none means that they could not be listed.
type tagError struct {
	disks []string
	cause error
}

func (e *tagError) Error() string { return e.cause.Error() }

func (e *tagError) Unwrap() error { return e.cause }

// deletesCluster reports whether the VM is deleted with its cluster. The volumes of a VM that is only replaced stay in use.
func (d Deletion) deletesCluster() bool {
	return d.ClusterGone || !d.Cluster.DeletionTimestamp.IsZero() || !d.AzureCluster.DeletionTimestamp.IsZero()
}

// findDisksToTag returns the disks to tag. It stops asking Azure as soon as no disk can be left.
func (d Deletion) findDisksToTag(ctx context.Context) ([]arm.ID, error) {
	of := leftovers.Cluster{Name: d.Cluster.Name, Owner: ownership.OwnerTagValue(d.AzureCluster, d.Cluster.Name), IsPlanned: d.isPlanned}
	vms, err := d.provenVMs(ctx, of)
	if err != nil {
		return nil, err
	}
	attached := of.ListDataDisks(vms)
	if len(attached) == 0 {
		return nil, nil
	}
	caller, group := d.Session.Caller(), arm.ResourceGroupID(d.Resource.Subscription(), d.Resource.ResourceGroup())
	body, err := d.Facts.ReadResource(ctx, caller, group)
	if err != nil || of.HasClusterTags(body) {
		return nil, err
	}
	disks, err := d.Facts.ListDisks(ctx, caller.Client, group)
	if err != nil {
		return nil, err
	}
	return of.VolumesToTag(attached, disks), nil
}

// provenVMs returns the VMs that are proven to be the cluster's.
func (d Deletion) provenVMs(ctx context.Context, of leftovers.Cluster) ([]json.RawMessage, error) {
	body, err := d.Facts.ReadResource(ctx, d.Session.Caller(), d.Resource)
	if err != nil || !of.ProvesAttachment(body) {
		return nil, err
	}
	if !strings.EqualFold(d.Resource.Type(), types.ScaleSet) {
		return []json.RawMessage{body}, nil
	}
	return d.Facts.ListScaleSetVMs(ctx, d.Session.Caller(), d.Resource, d.Flexible)
}

func (d Deletion) isPlanned(id arm.ID) bool {
	for _, disk := range d.Planned {
		if disk.Equal(id) {
			return true
		}
	}
	return false
}

// newTagAction adds the tag to those of a disk, with the API of tags. A write to the disk itself would replace all tags.
// https://learn.microsoft.com/en-us/rest/api/resources/tags/update-at-scope
func newTagAction(disk arm.ID, owner string) engine.Action {
	return engine.Action{
		Method: "PATCH", ID: disk, SubPath: "providers/Microsoft.Resources/tags/default", APIVersion: types.TagsAPIVersion,
		Body: map[string]any{"operation": "Merge", "properties": map[string]any{"tags": map[string]string{infrav1.VolumeTag: owner}}},
	}
}

// reportFailure makes the deletion wait for a transient error to pass, for a while. Any other error does not stop the deletion.
func (d Deletion) reportFailure(err error) (warning string, _ error) {
	failed := &tagError{cause: err}
	errors.As(err, &failed)
	if arm.IsTransient(failed.cause) && d.Since != nil && d.Session.Now().Sub(d.Since.Time) < maxDelay {
		return "", reconcile.ReadFailed(failed.cause)
	}
	what := "the disks of volumes"
	if len(failed.disks) > 0 {
		what = strings.Join(failed.disks[:min(len(failed.disks), maxNamed)], ", ")
		if more := len(failed.disks) - maxNamed; more > 0 {
			what += fmt.Sprintf(" and %d others", more)
		}
	}
	return fmt.Sprintf("Azure refused to tag %s of %s, so they stay in Azure when the cluster is gone. To have them deleted with it, give the identity the rights Microsoft.Compute/disks/read and Microsoft.Resources/tags/write, "+
		"or delete them yourself: %v", what, d.Resource.ShortName(), failed.cause), nil
}
