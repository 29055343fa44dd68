import { createExecution } from '#blockchain/execution'
import { l2RefOf } from '#chainspec/l2Ref'
import { type RecordedChain, type RecordedChainName, readRecordedChain } from '#devnet/recordedChain'
import { fromHex } from '#lib/hex'
import { silentLog } from '#lib/log'
import type { StateLoader } from '#snapshot/load/stateLoader'
import { decodeAccountRow } from '#state/account'
import { afterPrefix } from '#store/keys'
import type { Kv, KvReader } from '#store/ports'
import { tables } from '#store/tables'
import { payloadsOf } from '#test/harness/chain/l2Blocks'
import { createManualClock } from '#test/harness/clock'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { type Block, decodeBlock } from '#types/block'
import { emptyCodeHash } from '#types/ids'

export type RecordedState = { readonly chain: RecordedChain; readonly kv: Kv }

/** Executes a recorded chain up to a block, in memory. */
export async function executeRecorded(name: RecordedChainName, upTo: number): Promise<RecordedState> {
  const chain = readRecordedChain(name)
  const kv = createMemoryKv()
  const clock = createManualClock()
  const execution = createExecution({ kv, evm: sharedEvm, config: chain.config, genesis: () => chain.genesis, clock, log: silentLog })
  const payloads = payloadsOf(chain.blocks)
  for (const payload of payloads.slice(1, upTo + 1)) {
    const result = execution.insertPayload(payload)
    if (result.kind === 'invalid') throw new Error(result.reason)
  }
  const head = payloads[upTo]
  if (head === undefined) throw new RangeError(`no block ${upTo}`)
  const ref = l2RefOf(chain.config, head)
  await execution.setHeads({ unsafe: ref, safe: ref, finalized: ref })
  await execution.close()
  return { chain, kv }
}

/** Loads the latest state of a store, from where the loader stands. @param onRow called before each account and slot */
export function loadLatest(reader: KvReader, loader: StateLoader, onRow: () => void = () => {}): void {
  const at = loader.position
  if (at === undefined) for (const { value } of reader.range(tables.code.id, {})) loader.code(value)
  for (const { key, value } of reader.range(tables.accounts.id, at ? { from: at.account } : {})) {
    const isOpen = at !== undefined && Buffer.compare(key, at.account) === 0
    const { nonce, balance, codeHash } = decodeAccountRow(value)
    onRow()
    if (!isOpen) loader.account(key, nonce, balance, codeHash === emptyCodeHash ? undefined : fromHex(codeHash))
    for (const slot of reader.range(tables.storage.id, { from: key, to: afterPrefix(key) as Uint8Array })) {
      const slotKey = slot.key.subarray(32)
      if (isOpen && at.slot && Buffer.compare(slotKey, at.slot) <= 0) continue
      onRow()
      loader.slot(slotKey, slot.value)
    }
  }
}

/** Returns the recorded blocks, from one to another, with all parts. */
export function givenBlocks({ blocks }: RecordedChain, from: number, to: number): (Block & { readonly receipts: readonly Uint8Array[] })[] {
  return blocks.slice(from, to + 1).map(({ raw, receipts }) => ({ ...decodeBlock(raw), receipts }))
}

/** Rows of the latest state: all tables that a load writes. */
export const stateTables: readonly number[] = [tables.accounts, tables.storage, tables.code, tables.accountNodes, tables.storageNodes].map(
  ({ id }) => id,
)

/** Returns the rows of a table as text. @param to the key after them; absent: all rows */
export function rowsOf(reader: KvReader, table: number, to?: Uint8Array): string[] {
  return Array.from(
    reader.range(table, to ? { to } : {}),
    ({ key, value }) => `${Buffer.from(key).toString('hex')} ${Buffer.from(value).toString('hex')}`,
  )
}
