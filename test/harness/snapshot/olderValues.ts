import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { readCanonicalHash, readHead, readHeader } from '#blockchain/chainStore'
import { systemClock } from '#lib/clock'
import { openProofs } from '#proofs/openProofs'
import { Recorder } from '#proofs/recorder'
import { writeWanted } from '#proofs/wanted'
import { verifyProof } from '#proofVerifier/proof'
import { HistoricalRows } from '#state/history'
import { HistoryCache } from '#state/historyCache'
import { accountsTable, storageTable } from '#state/rows'
import { createWorldReads } from '#state/worldReads'
import type { WorldState } from '#state/worldState'
import { openChainKv } from '#store/chainTables'
import type { Kv, KvReader } from '#store/ports'
import { places } from '#test/harness/chain/randomDeposits'
import type { Hash } from '#types/ids'
import { proofResult } from '../../../src/rpc/results/proof.ts'

/** Records proofs of all blocks of a data directory, as far back as it has values. */
export async function recordProofs(datadir: string): Promise<void> {
  await using kv = openChainKv(join(datadir, 'chain'))
  await using proofs = openProofs(join(datadir, 'proofs'))
  proofs.write((tx) => writeWanted(tx, 0))
  const recorder = new Recorder({ kv: proofs, chain: kv, clock: systemClock }, 'all')
  recorder.check('proofs')
  while (recorder.step(100).isBehind);
}

export async function readChain<T>(datadir: string, read: (reader: KvReader, kv: Kv) => T): Promise<T> {
  await using kv = openChainKv(join(datadir, 'chain'))
  using reader = kv.snapshot()
  return read(reader, kv)
}

/** Digest of all accounts and slots of a state. */
export function digestAt(reader: KvReader, number: number): string {
  const rows = new HistoricalRows(reader, number, readHead(reader)?.number ?? 0, new HistoryCache())
  const hash = createHash('sha256')
  for (const table of [accountsTable, storageTable]) {
    for (const { key, value } of rows.range(table, Uint8Array.of(0), undefined))
      hash.update(key).update(Uint8Array.of(value.length)).update(value)
  }
  return hash.digest('hex')
}

/** Proves accounts of the last block in an older state, and compares the proofs with the header by a verifier that shares nothing with the node. @throws Error */
export function requireProofs(state: WorldState, reader: KvReader, number: number): void {
  const header = readHeader(reader, { number, hash: readCanonicalHash(reader, number) as Hash })
  for (const address of places.addresses.slice(0, 12)) {
    const stateRoot = header?.stateRoot as Hash
    const slots = places.slots.slice(0, 3)
    const proof = createWorldReads(state, stateRoot).prove(address, slots)
    const json = proofResult.encode({ address, keys: slots.map((slot) => ({ slot, written: slot })), proof })
    const verdict = verifyProof(json, { stateRoot, address, slots })
    if (verdict.kind === 'invalid') throw new Error(`${address} at block ${number}: ${JSON.stringify(verdict.problems)}`)
  }
}
