package metrics

var Collectors = collectors
