package main

import (
	"sync"

	"dealflow/internal/attempts"
	"dealflow/internal/logs"
	"dealflow/internal/workfolder"
)

// workPrefix begins the names of the folders that this program creates in the work folder of the settings.
const workPrefix = "dealflow-work-"

// workFolder is the folder for a command's unfinished files.
type workFolder struct {
	once   sync.Once
	folder *workfolder.Folder // nil for none
}

// close removes the folder.
func (w *workFolder) close() error { return w.folder.Close() }

// workDir returns a folder for unfinished files that is locked while this process lives. The first call creates it in
// the work folder of the settings, and removes there what processes left that died. If it cannot be created, such as on
// a full disk, workDir returns the folder of the settings: commands that write nothing there need none.
func (a *app) workDir() string {
	a.work.once.Do(func() {
		salvage := func(folder string) { attempts.Salvage(folder, a.Now(), a.logger()) }
		err := workfolder.RemoveDead(a.settings.workDir, workPrefix, salvage)
		if err != nil {
			a.logger().Warn("folders of dead processes could not be removed", "error", err)
		}
		if a.work.folder, err = workfolder.Create(a.settings.workDir, workPrefix); err != nil {
			a.logger().Warn("the work folder could not be created", "error", err, logs.Text("set --work-dir to a folder with free space: %v", err))
		}
	})
	if a.work.folder == nil {
		return a.settings.workDir
	}
	return a.work.folder.Path()
}

// lockedFolder returns the folder of workDir if this process has one of its own, else "".
func (a *app) lockedFolder() string {
	a.workDir()
	if a.work.folder == nil {
		return ""
	}
	return a.work.folder.Path()
}
