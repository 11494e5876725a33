// Package demo fills a throw-away company with courses, people and a history, and
// simulates learners while the demo runs. It uses the same use cases as real
// callers.
package demo
