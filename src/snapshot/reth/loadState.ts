import type { StateLoader } from '../load/stateLoader.ts'
import type { Database } from './mdbx/database.ts'
import { codesAfter, StateCursor } from './tables/stateCursor.ts'

/** Rows read between two looks at the signal: some 50 ms. */
const rowsPerSlice = 20_000
/** Bytes of codes in one transaction. */
const codesPerCommitBytes = 16 << 20
/** Cursor of a load whose codes are all stored. While codes are loaded, the cursor is the hash of the last one, of 32 bytes. */
const codesDone = Uint8Array.of(1)
/** Bytes of the shortest row in the file: the hash of a slot and its value. */
const leastRowBytes = 33

export type LoadDeps = {
  readonly signal: AbortSignal
  /** Called after each slice of work. `rows` of `totalRows` accounts and slots are loaded. */
  onProgress(progress: { readonly rows: number; readonly totalRows: number }): void
}

/**
 * Loads the state of a database: all codes, then accounts and slots in the order of their hashes. Continues where the loader's last transaction ended. The
 * caller compares the root.
 * @throws Fault SNAPSHOT_FILE_DAMAGED, those of the loader; the reason of an aborted signal
 */
export async function loadState({ signal, onProgress }: LoadDeps, database: Database, loader: StateLoader): Promise<void> {
  const slice = async (): Promise<void> => {
    const { accounts, slots } = loader.counts
    onProgress({ rows: accounts + slots, totalRows })
    await new Promise((resolve) => setImmediate(resolve))
    signal.throwIfAborted()
  }
  const totalRows = database.table('HashedAccounts').items + database.table('HashedStorages').items
  if (loader.cursor.length !== codesDone.length) await loadCodes(database, loader, slice)
  const state = new StateCursor(database, loader.position)
  const { sizeBytes } = database
  let rows = loader.counts.accounts + loader.counts.slots
  let left = rowsPerSlice
  for (let kind = state.next(); kind !== undefined; kind = state.next()) {
    if (kind === 'slot') loader.slot(state.slotKey, state.slotValue)
    else addAccount(state, loader)
    // many keys may refer to one tree of values
    if (++rows * leastRowBytes > sizeBytes)
      throw database.damaged('tables HashedAccounts and HashedStorages', `they have more rows than ${sizeBytes} bytes hold`)
    if (--left > 0) continue
    await slice()
    left = rowsPerSlice
  }
  loader.endAccount()
  await slice()
}

async function loadCodes(database: Database, loader: StateLoader, slice: () => Promise<void>): Promise<void> {
  let bytes = 0
  for (const { hash, code } of codesAfter(database, loader.cursor.length === 0 ? undefined : loader.cursor)) {
    if (code.length > 0) loader.code(code)
    bytes += code.length
    if (bytes < codesPerCommitBytes) continue
    bytes = 0
    loader.commit(hash)
    await slice()
  }
  loader.commit(codesDone)
}

function addAccount(state: StateCursor, loader: StateLoader): void {
  const { nonce, balance, codeHash } = state.accountValue()
  loader.account(state.accountKey, nonce, balance, codeHash)
}
