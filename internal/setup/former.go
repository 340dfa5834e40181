package setup

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration/former"
)

// leaderElectionID is the default name of the lease. The established provider uses the same, so that only one of the two is active at a
// time.
const leaderElectionID = "controller-leader-election-capz"

// formerTimeout is the time after which the manager exits with an error if the record is not complete.
const formerTimeout = 2 * time.Minute

// leaseNamespace returns the namespace of the lease, or "" if it is not known.
func (o *Options) leaseNamespace() string { return cmp.Or(o.LeaderElectionNamespace, ownNamespace()) }

// recordFormerOnce calls recordFormer with a client of its own, because the manager's client reads from a cache that has not
// started yet.
func (o *Options) recordFormerOnce(ctx context.Context, config *rest.Config, scheme *runtime.Scheme) error {
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, formerTimeout)
	defer cancel()
	return o.recordFormer(ctx, c, ctrl.Log.WithName("setup"))
}

// recordFormer records the credentials that were in use before this manager, if the established provider was installed before.
//
// The lease shows that: a manager of this provider annotates it before acquiring it, and clusterctl does not change it at an
// upgrade, so a lease without the annotation belongs to the established provider. Without a lease the installation is new, and
// recordFormer creates the lease with the annotation. Tenants cannot write to the namespace of the lease. The annotation is set
// after the record is stored, and an existing record is not changed, so that nothing is lost if a manager exits in between.
// Deleting the record later revokes its permissions for good.
func (o *Options) recordFormer(ctx context.Context, c client.Client, log logr.Logger) error {
	key := client.ObjectKey{Namespace: o.leaseNamespace(), Name: leaderElectionID}
	if !o.LeaderElect || key.Namespace == "" {
		return nil
	}
	err := retry.OnError(retry.DefaultBackoff, func(err error) bool { return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) },
		func() error {
			lease := &coordinationv1.Lease{}
			switch err := c.Get(ctx, key, lease); {
			case apierrors.IsNotFound(err):
				lease.ObjectMeta = metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name,
					Annotations: map[string]string{infrav1.FormerRecordedAnnotation: "true"}}
				return c.Create(ctx, lease)
			case err != nil:
				return fmt.Errorf("get Lease %s: %w", key, err)
			case lease.Annotations[infrav1.FormerRecordedAnnotation] != "":
				return nil
			}
			formers, err := former.ListUsed(ctx, c, o.Namespace, func(secret client.ObjectKey, err error) {
				log.Info("The Secret cannot be read. If its application trusts the Azure Service Operator, its clusters cannot sign in.", "secret",
					secret.String(), "error", err.Error())
			})
			if err != nil {
				return err
			}
			formers, err = withoutPrepared(ctx, c, formers)
			if err != nil {
				return err
			}
			record, left := identity.FormerRecord(key.Namespace, formers)
			if left > 0 {
				log.Info("Not all credentials that were in use before the upgrade fit into the record. The others are isolated.", "configMap",
					client.ObjectKeyFromObject(record).String(), "left", left)
			}
			if len(record.Data) > 0 {
				if err := c.Create(ctx, record); err != nil && !apierrors.IsAlreadyExists(err) {
					return fmt.Errorf("create ConfigMap %s/%s: %w", record.Namespace, record.Name, err)
				}
				log.Info("The established provider worked here before. Credentials that were in use then keep working.", "configMap",
					client.ObjectKeyFromObject(record).String(), "credentials", len(record.Data))
			}
			metav1.SetMetaDataAnnotation(&lease.ObjectMeta, infrav1.FormerRecordedAnnotation, "true")
			return c.Update(ctx, lease)
		})
	if apierrors.IsForbidden(err) {
		log.Info("Credentials that were in use before the upgrade cannot be recorded, so they are isolated. Grant the right and restart the manager.", "error", err.Error())
		return nil
	}
	return err
}

// withoutPrepared leaves out workload identities of namespaces that have the ServiceAccount for isolated tenants. It was created
// for them, because no other provider uses it.
func withoutPrepared(ctx context.Context, c client.Client, formers []identity.Former) ([]identity.Former, error) {
	prepared := map[string]bool{}
	var out []identity.Former
	for _, former := range formers {
		if former.Type == infrav1.WorkloadIdentity {
			is, asked := prepared[former.Namespace]
			if !asked {
				var err error
				if is, err = identity.HasAccount(ctx, c, former.Namespace); err != nil {
					return nil, err
				}
				prepared[former.Namespace] = is
			}
			if is {
				continue
			}
		}
		out = append(out, former)
	}
	return out, nil
}
