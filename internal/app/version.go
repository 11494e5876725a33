package app

// Version is the program's version.
type Version struct {
	Version string `json:"version"`
}

func (v Version) String() string { return v.Version }
