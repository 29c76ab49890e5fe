// Package metrics shows the health of a lake, and how its commands ended, as metrics of Prometheus.
// Takes: a Health, which `status` computes and nothing else, and the Ending of each command.
// Gives: a collector for a registry, which serve and watch show under /metrics, and a file for node_exporter.
// Keeps: all numbers of a lake come from one Health. What is known of the last success is never erased: neither by a
// lake that cannot be read, nor by a file that is written again.
// Fails: a file that cannot be read or written is an error, and leaves the file as it was.
// May change here: new metrics; the name, the labels and the meaning of one are never changed.
package metrics
