package v1beta1

// Expander is the cluster autoscaler's strategy for choosing the pool to scale up.
// +kubebuilder:validation:Enum=least-waste;most-pods;priority;random
type Expander string

const (
	// ExpanderLeastWaste chooses the pool with the least idle CPU after scaling up.
	ExpanderLeastWaste Expander = "least-waste"
	// ExpanderMostPods chooses the pool on which most pods can be scheduled.
	ExpanderMostPods Expander = "most-pods"
	// ExpanderPriority chooses the pool with the highest priority in a ConfigMap.
	ExpanderPriority Expander = "priority"
	// ExpanderRandom chooses a pool at random.
	ExpanderRandom Expander = "random"
)

// BalanceSimilarNodeGroups is "true" or "false".
// +kubebuilder:validation:Enum="true";"false"
type BalanceSimilarNodeGroups string

// SkipNodesWithLocalStorage is "true" or "false".
// +kubebuilder:validation:Enum="true";"false"
type SkipNodesWithLocalStorage string

// SkipNodesWithSystemPods is "true" or "false".
// +kubebuilder:validation:Enum="true";"false"
type SkipNodesWithSystemPods string

// AutoScalerProfile has the settings of the cluster autoscaler of an AKS cluster. Durations are whole numbers followed
// by m for minutes or s for seconds.
type AutoScalerProfile struct {
	// balanceSimilarNodeGroups keeps the sizes of similar pools equal: "true" or "false". The default is "false".
	// +optional
	// +kubebuilder:default="false"
	BalanceSimilarNodeGroups *BalanceSimilarNodeGroups `json:"balanceSimilarNodeGroups,omitempty"`

	// expander is the strategy for choosing the pool to scale up: least-waste, most-pods, priority or random (the
	// default).
	// +optional
	// +kubebuilder:default=random
	Expander *Expander `json:"expander,omitempty"`

	// maxEmptyBulkDelete is the maximum number of empty nodes to remove at once, a number in quotes. The default is
	// "10".
	// +optional
	// +kubebuilder:default="10"
	MaxEmptyBulkDelete *string `json:"maxEmptyBulkDelete,omitempty"`

	// maxGracefulTerminationSec is the time in seconds that pods have to end when a node is removed, a number in
	// quotes. The default is "600".
	// +optional
	// +kubebuilder:validation:Pattern=`^(\d+)$`
	// +kubebuilder:default="600"
	MaxGracefulTerminationSec *string `json:"maxGracefulTerminationSec,omitempty"`

	// maxNodeProvisionTime is the time in minutes that a node may take to become available. The default is "15m".
	// +optional
	// +kubebuilder:validation:Pattern=`^(\d+)m$`
	// +kubebuilder:default="15m"
	MaxNodeProvisionTime *string `json:"maxNodeProvisionTime,omitempty"`

	// maxTotalUnreadyPercentage is the percentage of unready nodes at which the autoscaler stops, a number in quotes.
	// The default is "45".
	// +optional
	// +kubebuilder:validation:Pattern=`^(\d+)$`
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=3
	// +kubebuilder:default="45"
	MaxTotalUnreadyPercentage *string `json:"maxTotalUnreadyPercentage,omitempty"`

	// newPodScaleUpDelay is the age that an unschedulable pod must have before a node is added for it. The default is
	// "0s".
	// +optional
	// +kubebuilder:default="0s"
	NewPodScaleUpDelay *string `json:"newPodScaleUpDelay,omitempty"`

	// okTotalUnreadyCount is the number of unready nodes that is allowed regardless of maxTotalUnreadyPercentage, a
	// number in quotes. The default is "3".
	// +optional
	// +kubebuilder:validation:Pattern=`^(\d+)$`
	// +kubebuilder:default="3"
	OkTotalUnreadyCount *string `json:"okTotalUnreadyCount,omitempty"`

	// scanInterval is the interval in seconds at which the autoscaler evaluates the cluster. The default is "10s".
	// +optional
	// +kubebuilder:validation:Pattern=`^(\d+)s$`
	// +kubebuilder:default="10s"
	ScanInterval *string `json:"scanInterval,omitempty"`

	// scaleDownDelayAfterAdd is the time in minutes after adding a node during which no node is removed. The default is
	// "10m".
	// +optional
	// +kubebuilder:validation:Pattern=`^(\d+)m$`
	// +kubebuilder:default="10m"
	ScaleDownDelayAfterAdd *string `json:"scaleDownDelayAfterAdd,omitempty"`

	// scaleDownDelayAfterDelete is the time in seconds after removing a node during which no other node is removed. The
	// default is scanInterval, "10s".
	// +optional
	// +kubebuilder:validation:Pattern=`^(\d+)s$`
	// +kubebuilder:default="10s"
	ScaleDownDelayAfterDelete *string `json:"scaleDownDelayAfterDelete,omitempty"`

	// scaleDownDelayAfterFailure is the time in minutes after a failed removal during which no node is removed. The
	// default is "3m".
	// +optional
	// +kubebuilder:validation:Pattern=`^(\d+)m$`
	// +kubebuilder:default="3m"
	ScaleDownDelayAfterFailure *string `json:"scaleDownDelayAfterFailure,omitempty"`

	// scaleDownUnneededTime is the time in minutes that a node must be unneeded before it is removed. The default is
	// "10m".
	// +optional
	// +kubebuilder:validation:Pattern=`^(\d+)m$`
	// +kubebuilder:default="10m"
	ScaleDownUnneededTime *string `json:"scaleDownUnneededTime,omitempty"`

	// scaleDownUnreadyTime is the time in minutes that an unready node must be unneeded before it is removed. The
	// default is "20m".
	// +optional
	// +kubebuilder:validation:Pattern=`^(\d+)m$`
	// +kubebuilder:default="20m"
	ScaleDownUnreadyTime *string `json:"scaleDownUnreadyTime,omitempty"`

	// scaleDownUtilizationThreshold is the utilization, "0" to "1", below which a node is unneeded. The default is
	// "0.5".
	// +optional
	// +kubebuilder:default="0.5"
	ScaleDownUtilizationThreshold *string `json:"scaleDownUtilizationThreshold,omitempty"`

	// skipNodesWithLocalStorage keeps nodes that run pods with local storage: "true" or "false". The default is
	// "false".
	// +optional
	// +kubebuilder:default="false"
	SkipNodesWithLocalStorage *SkipNodesWithLocalStorage `json:"skipNodesWithLocalStorage,omitempty"`

	// skipNodesWithSystemPods keeps nodes that run pods of the namespace kube-system: "true" (the default) or "false".
	// +optional
	// +kubebuilder:default="true"
	SkipNodesWithSystemPods *SkipNodesWithSystemPods `json:"skipNodesWithSystemPods,omitempty"`
}
