package setup

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-logr/logr"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"sigs.k8s.io/cluster-api-provider-azure/internal/rights"
)

// rightsInterval is the interval between checks while permissions are missing. If none is missing, the check runs once.
const rightsInterval = 10 * time.Minute

// errRights is logged with the list of missing permissions.
var errRights = errors.New("the manager lacks rights in Kubernetes")

// rightsCheck logs the missing and the unneeded permissions of the manager. The manager continues and stays ready, because its
// webhooks need no permissions, and without them no object could be changed. The check runs on every replica.
type rightsCheck struct {
	client authorizationclient.AuthorizationV1Interface
	scope  rights.Scope
	log    logr.Logger
}

// checkRights adds the check to the manager.
func (o *Options) checkRights(mgr ctrl.Manager, config *rest.Config) error {
	client, err := authorizationclient.NewForConfig(config)
	if err != nil {
		return err
	}
	scope := rights.Scope{Namespace: o.Namespace, SecretNamespaces: o.SecretNamespaces}
	if o.LeaderElect {
		scope.LeaseNamespace = o.leaseNamespace()
	}
	return mgr.Add(&rightsCheck{client: client, scope: scope, log: ctrl.Log.WithName("rights")})
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (c *rightsCheck) NeedLeaderElection() bool { return false }

// Start implements manager.Runnable.
func (c *rightsCheck) Start(ctx context.Context) error {
	ticker := time.NewTicker(rightsInterval)
	defer ticker.Stop()
	var before rights.Report
	for first := true; ; first = false {
		report, err := rights.CheckRights(ctx, c.client, c.scope)
		if err != nil {
			// The API server may refuse the request or be unavailable. Missing permissions then cause errors where they are used.
			c.log.Info("The rights of the manager could not be checked", "error", err.Error())
			return nil
		}
		c.logChanges(report, before, first)
		if len(report.Missing) == 0 {
			return nil
		}
		before = report
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// logChanges logs the changes since the previous report.
func (c *rightsCheck) logChanges(report, before rights.Report, first bool) {
	switch {
	case len(report.Missing) > 0 && (first || !slices.Equal(report.Missing, before.Missing)):
		c.log.Error(errRights, "Objects are not reconciled, or not completely, until these rights are granted. Install the release with clusterctl, which binds its roles to the manager's ServiceAccount.",
			"missing", report.Missing)
	case len(report.Missing) == 0 && !first:
		c.log.Info("All rights of the roles of the release are granted now")
	}
	if len(report.Unneeded) > 0 && first {
		c.log.Info("Warning: the manager has rights in all namespaces that it does not need. Delete the bindings of an earlier installation that give them.",
			"unneeded", report.Unneeded)
	}
}
