import { open, readFile, rename, rm } from "node:fs/promises";

import { nextPage, type Transport } from "./transport.js";
import type { Assignment, AssignmentList } from "./types.js";

/** SyncState is how far a sync has come. An empty one starts from the beginning. */
export interface SyncState {
  /** Everything before it has been handled. */
  since?: string;
  /** The query of the page to go on with; absent between two syncs. */
  next?: string;
  /** The since of the next sync; absent between two syncs. */
  watermark?: string;
}

/** Checkpoint keeps the state of a sync between calls. */
export interface Checkpoint {
  load(): Promise<SyncState>;
  save(state: SyncState): Promise<void>;
}

/** Sync is what syncAssignments needs. */
interface Sync {
  at: Checkpoint;
  handle: (assignment: Assignment) => void | Promise<void>;
  signal?: AbortSignal | undefined;
}

/** beginning is before the first change of any company. */
const beginning = "2000-01-01T00:00:00Z";

/** syncAssignments is the method of the client with this name. */
export async function syncAssignments(transport: Transport, sync: Sync): Promise<void> {
  let state = await sync.at.load();
  do {
    state = await syncPage(transport, state, sync);
    await sync.at.save(state);
  } while (state.next !== undefined);
}

/** syncPage handles one page and returns the state that leads to the next one. */
async function syncPage(transport: Transport, state: SyncState, { handle, signal }: Sync): Promise<SyncState> {
  const query = new URLSearchParams(state.next ?? { limit: "500", updatedSince: state.since ?? beginning });
  const { data, headers } = await transport.data<AssignmentList>({ path: ["assignments"], query, signal });
  for (const assignment of data.items) await handle(assignment);
  // Only the watermark of the first page counts: later ones are newer than what has been read.
  const watermark = state.watermark ?? headers.get("X-Sync-Watermark") ?? undefined;
  if (watermark === undefined) throw new Error("the answer has no X-Sync-Watermark: does a proxy remove headers?");
  const next = nextPage(headers);
  if (!next) return { since: watermark };
  return { ...state, next: next.toString(), watermark };
}

/** MemoryCheckpoint forgets the state when the program ends. */
export class MemoryCheckpoint implements Checkpoint {
  #state: SyncState = {};

  load(): Promise<SyncState> {
    return Promise.resolve({ ...this.#state });
  }

  save(state: SyncState): Promise<void> {
    this.#state = { ...state };
    return Promise.resolve();
  }
}

/** FileCheckpoint keeps the state in a file, which is replaced as a whole. */
export class FileCheckpoint implements Checkpoint {
  constructor(readonly path: string) {}

  /** load reads the file. A missing one starts from the beginning. */
  async load(): Promise<SyncState> {
    try {
      return JSON.parse(await readFile(this.path, "utf8")) as SyncState;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
      throw error;
    }
  }

  async save(state: SyncState): Promise<void> {
    const draft = `${this.path}.${process.pid}`;
    try {
      const file = await open(draft, "w", 0o600);
      try {
        await file.writeFile(JSON.stringify(state));
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(draft, this.path);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  }
}
