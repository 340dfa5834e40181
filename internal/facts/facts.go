package facts

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// Reader reads one resource; nil without an error means that it does not exist.
type Reader func(ctx context.Context, c *client.Client, id arm.ID) (json.RawMessage, error)

// Options configure Facts. The zero value is usable.
type Options struct {
	// Read reads the cluster's resources. The composition root gives the engine's shared reads, so that many machines cost
	// one LIST; nil is one GET per resource.
	Read Reader
	// Unchanged has answers kept for longer; nil is not at all.
	Unchanged Unchanged
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// TTL is how old the SKU catalog and the regions may be, as a size that the subscription is granted is to be found
	// without a restart; 0 is 24 hours. Less than ten minutes is taken for ten: the catalog takes Azure seconds.
	TTL time.Duration
}

// catalogTTL is how long a catalog is kept at least.
const catalogTTL = 10 * time.Minute

// Facts answers questions. It is safe for concurrent use; a process has one.
type Facts struct {
	read      Reader
	failures  *failures
	skus      *cache[*catalog]
	regions   *cache[*regions]
	ports     *portReservations
	scaleSets *cache[[]scaleSet]
	// poolScaleSets are the scale sets of a resource group, members their instances, kubeconfigs what was answered last, as hashes.
	poolScaleSets *unchangedCache[[]scaleSet]
	poolInstances *unchangedCache[[]arm.ID]
	kubeconfigs   *unchangedCache[[sha256.Size]byte]
	// recentKubeconfigs are hashes of kubeconfigs, too, by how the cluster was seen then.
	recentKubeconfigs *cache[[sha256.Size]byte]
	// completePools are the instances of pools that have all, by how the pool was seen then.
	completePools *cache[[]arm.ID]
}

// New makes Facts that know nothing yet.
func New(options Options) *Facts {
	if options.Read == nil {
		options.Read = getResource
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.TTL <= 0 {
		options.TTL = 24 * time.Hour
	}
	options.TTL = max(options.TTL, catalogTTL)
	failed := newFailures(options.Now)
	return &Facts{
		failures: failed,
		read: func(ctx context.Context, c *client.Client, id arm.ID) (json.RawMessage, error) {
			return askUnlessFailed(ctx, failed, c.CacheScope()+"|"+id.Key(), func(ctx context.Context) (json.RawMessage, error) {
				return options.Read(ctx, c, id)
			})
		},
		skus:      newCache[*catalog](options.TTL, options.Now),
		regions:   newCache[*regions](options.TTL, options.Now),
		ports:     newPortReservations(options.Now),
		scaleSets: newCache[[]scaleSet](scaleSetsTTL, options.Now), recentKubeconfigs: newCache[[sha256.Size]byte](kubeconfigTTL, options.Now), completePools: newCache[[]arm.ID](instancesTTL, options.Now),
		poolInstances: newUnchangedCache[[]arm.ID](options, false), kubeconfigs: newUnchangedCache[[sha256.Size]byte](options, false), poolScaleSets: newUnchangedCache[[]scaleSet](options, true),
	}
}

// ClusterFacts gives the facts for the plan of a cluster. An unknown region is a *field.Error on spec.location that lists the
// names most like it; an unknown subscription is the *arm.Error of Azure. in.Facts is not used.
//
// The SKU catalog, which tells the zones, takes Azure seconds, and most of a network does not depend on it. It is not
// waited for: until it is there ZonesPending is set, and wake is called when it has arrived.
func (f *Facts) ClusterFacts(ctx context.Context, c *client.Client, in plan.ClusterInput, wake func()) (plan.ClusterFacts, error) {
	var facts plan.ClusterFacts
	subscription, location := in.SubscriptionID, plan.Location(in)
	catalog, known, zonesErr := f.skus.startFetch(ctx, catalogKey(c, subscription, location), listCatalog(c, subscription, location), wake)
	if known {
		facts.Zones = catalog.zones
		if size, ok := catalog.sizes[strings.ToLower(in.ControlPlaneSize)]; ok {
			facts.ControlPlaneZones = size.Zones
		}
	}
	if facts.ZonesPending = !known; !known {
		facts.ZonesTrouble = f.skus.failures.lastError(catalogKey(c, subscription, location))
	}
	var regionErr error
	var group errgroup.Group
	group.Go(func() error {
		regionErr = f.checkClusterRegion(ctx, c, in)
		return nil
	})
	group.Go(func() (err error) {
		if id := plan.VNetResourceGroupID(in); id.Equal(plan.ResourceGroupID(in)) {
			// The group is needed next, and nothing in it has to be asked for when it is not there. Who reads it next tells of an error.
			_, _ = f.read(ctx, c, id)
		}
		facts.VNet, err = f.ReadClusterVNet(ctx, c, in)
		return err
	})
	group.Go(func() (err error) {
		facts.InternalFrontends, err = f.readInternalFrontends(ctx, c, in)
		return err
	})
	err := group.Wait()
	// A region or subscription that does not exist explains every other failure.
	if regionErr != nil {
		return facts, regionErr
	}
	if zonesErr != nil {
		return facts, zonesErr
	}
	return facts, err
}

// MachineFacts gives the facts for the plan of a machine. A VM size that the catalog does not have is no error: VMSize is nil
// then and NearestVMSizes lists the names most like it. in.Facts and in.MachineFacts are not used.
//
// The SSH port of a control-plane machine is reserved in memory until ReleaseMachine, so that machines planned at the same
// time get different ones.
func (f *Facts) MachineFacts(ctx context.Context, c *client.Client, in plan.MachineInput) (plan.MachineFacts, error) {
	var facts plan.MachineFacts
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		catalog, err := f.clusterCatalog(ctx, c, in.ClusterInput)
		if err != nil {
			return err
		}
		facts.MaximumPlatformFaultDomainCount = catalog.faultDomains
		facts.VMSize, facts.NearestVMSizes = catalog.findSize(in.AzureMachine.Spec.VMSize)
		return nil
	})
	group.Go(func() (err error) {
		facts.VMExists, facts.PrincipalID, facts.PowerState, err = f.readVM(ctx, c, in)
		return err
	})
	group.Go(func() (err error) {
		facts.SSHNATPort, err = f.reserveSSHPort(ctx, c, in)
		return err
	})
	group.Go(func() (err error) {
		facts.VNet, err = f.ReadClusterVNet(ctx, c, in.ClusterInput)
		return err
	})
	group.Go(func() (err error) {
		facts.AddressDetached, err = f.isAddressDetached(ctx, c, in)
		return err
	})
	err := group.Wait()
	return facts, err
}

// DeletingMachineFacts gives the facts that the deletion of a machine depends on: whether it leaves an empty availability set
// behind. Where the region has zones there is none and nothing is asked.
func (f *Facts) DeletingMachineFacts(ctx context.Context, c *client.Client, in plan.MachineInput) (plan.MachineFacts, error) {
	name, ok := plan.AvailabilitySetName(in)
	if !ok || len(in.Facts.Zones) > 0 {
		return plan.MachineFacts{}, nil
	}
	empty, err := f.isEmptyExcept(ctx, c, plan.AvailabilitySetID(in, name), plan.VMID(in))
	return plan.MachineFacts{AvailabilitySetEmpty: empty}, err
}
