import { describe, expect, it } from 'vitest'
import { payloadOfBlock } from '#block/execution/payloadBlock'
import type { ExecutionConfig } from '#block/executionConfig'
import { blockKey } from '#blockchain/chainRows'
import { putHeads, readHead } from '#blockchain/chainStore'
import { createExecution } from '#blockchain/execution'
import { createChainView, type ExecutionView } from '#blockchain/view/chainView'
import { parseBaseGenesisNote } from '#chainspec/baseGenesis'
import { agreeWithGenesis } from '#chainspec/genesis'
import { l2RefOf } from '#chainspec/l2Ref'
import { parseRollupConfig, type RollupConfig } from '#chainspec/rollupConfig'
import { createTracedWasmEvm, createWasmEvm } from '#evm/wasmEvm'
import { bytesFromBigint, u64Bytes } from '#lib/bytes'
import { CacheSet } from '#lib/caches'
import { systemClock } from '#lib/clock'
import { fromHex, type Hex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { silentLog } from '#lib/log'
import { divideCache, usualCacheBytes } from '#node/memory/cacheBudget'
import { recordedStates } from '#proofs/olderStates'
import { Recorder } from '#proofs/recorder'
import { checkRecorded } from '#proofs/verifyProofs'
import { writeWanted } from '#proofs/wanted'
import { createTracing } from '#simulation/trace/tracing'
import { latestState, oldestState, writeState } from '#state/chainState'
import { HistoryCache } from '#state/historyCache'
import { pruneHistory } from '#state/pruneHistory'
import { computeStateRoot } from '#state/stateRoot'
import type { Kv } from '#store/ports'
import { tables } from '#store/tables'
import { headerOf } from '#test/harness/chain/headers'
import { dice } from '#test/harness/dice'
import { readShared, readSharedJson } from '#test/harness/sharedData'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { createProof } from '#trie/proof'
import { decodeBlock } from '#types/block'
import { encodeHeader } from '#types/header'
import { emptyRoot, type Hash, hashFromBytes } from '#types/ids'
import { createStateDiff } from '#types/stateDiffTable'

type Recorded = { readonly blocks: readonly { readonly raw: Hex; readonly stateRoot: Hash }[] }
type Proof = { address: Hex; accountProof: Hex[]; storageProof: { key: string; proof: Hex[] }[] }
type Exchange = { readonly number: number; readonly proof: Proof }

const generated = 10_000

/** Recorded `eth_getProof` exchanges with a result, with their block numbers. */
function exchangesOf(folder: string): Exchange[] {
  const lines = readShared(`${folder}/rpc/eth_getProof.io.zst`).toString('utf8').split('\n')
  const parsed = (sign: string) => lines.filter((line) => line.startsWith(sign)).map((line) => JSON.parse(line.slice(3)))
  const replies = parsed('<<')
  return parsed('>>').flatMap(({ params }, i) => (replies[i].result ? [{ number: Number(params[2]), proof: replies[i].result }] : []))
}

/** A recorded chain in a store, and a recorder of its proofs. */
class RecordedStore {
  readonly kv: Kv = createMemoryKv()
  readonly proofs: Kv = createMemoryKv()
  readonly recorder: Recorder
  readonly config: RollupConfig & ExecutionConfig
  readonly roots: Hash[]
  readonly #recorded: Recorded
  readonly #note: ReturnType<typeof parseBaseGenesisNote>

  constructor(folder: string) {
    this.#recorded = readSharedJson<Recorded>(`${folder}/l2.json.zst`)
    this.#note = parseBaseGenesisNote(this.#recorded)
    this.config = agreeWithGenesis(parseRollupConfig(readSharedJson(`${folder}/rollup.json`)), this.#note.genesis)
    this.roots = this.#recorded.blocks.map(({ stateRoot }) => stateRoot)
    this.recorder = new Recorder({ kv: this.proofs, chain: this.kv, clock: systemClock }, 'all')
  }

  /** Executes the blocks from a number to below another. */
  async execute(from: number, to: number): Promise<void> {
    const { genesis } = this.#note
    const deps = { kv: this.kv, evm: createWasmEvm(), config: this.config, clock: systemClock, log: silentLog }
    const execution = createExecution({ ...deps, genesis: () => genesis })
    for (const { raw } of this.#recorded.blocks.slice(Math.max(1, from), to)) {
      const payload = payloadOfBlock(decodeBlock(fromHex(raw)))
      expect(execution.insertPayload(payload)).toEqual({ kind: 'valid' })
      await execution.setHeads({ ...(await execution.heads()), unsafe: l2RefOf(this.config, payload) })
    }
    await execution.close()
  }

  settle(): void {
    while (this.recorder.step(1_000).isBehind);
  }

  get head(): number {
    using reader = this.kv.snapshot()
    return readHead(reader)?.number ?? 0
  }

  /** Adds blocks that change accounts and slots of the recorded proofs, and others. No transaction leads to them. */
  generate(count: number, exchanges: readonly Exchange[]): void {
    const roll = dice(28)
    const accounts = [...new Set(exchanges.map(({ proof }) => proof.address))].map((address) => keccak256(fromHex(address)))
    const slots = Array.from({ length: 40 }, (_, slot) => keccak256(bytesFromBigint(BigInt(slot), 32)))
    let root = this.roots.at(-1) as Hash
    for (let first = this.head + 1, end = first + count; first < end; first += 100) {
      this.kv.write((tx) => {
        for (let number = first; number < Math.min(end, first + 100); number++) {
          const { view, nodes } = latestState(tx, () => undefined)
          const key = accounts[roll(accounts.length)] as Uint8Array
          const known = view.account(key)
          const other = keccak256(u64Bytes(roll(5_000)))
          const { nonce = 0n, codeHash = hashFromBytes(keccak256(new Uint8Array())) } = known ?? {}
          const changed = { key, change: { nonce, codeHash, balance: BigInt(number) }, wiped: false }
          const diff = createStateDiff({
            accounts: [changed, { ...changed, key: other, wiped: false }].sort((a, b) => Buffer.compare(a.key, b.key)),
            slots: [{ addressKey: key, slotKey: slots[roll(40)] as Uint8Array, value: bytesFromBigint(BigInt(roll(3)), 32) }],
            codes: [],
          })
          const result = computeStateRoot(nodes, root, diff)
          root = result.root
          writeState(tx, number, diff, result)
          const header = headerOf({ number, stateRoot: root, timestamp: 2_000_000_000 + number })
          const hash = hashFromBytes(keccak256(encodeHeader(header)))
          tx.put(tables.headers.id, blockKey({ number, hash }), encodeHeader(header))
          tx.put(tables.canonical.id, u64Bytes(number), fromHex(hash))
          putHeads(tx, { unsafe: { number, hash }, safe: { number, hash }, finalized: { number, hash } }, 1)
          this.roots[number] = root
        }
      })
      this.settle()
    }
  }

  /** Returns a view of the chain with its recorded proofs. */
  view(): ExecutionView {
    const [reader, proofs] = [this.kv.snapshot(), this.proofs.snapshot()]
    const head = readHead(reader) ?? expect.fail()
    const ref = { ...head, parentHash: head.hash, timestamp: 0, l1Origin: { number: 0, hash: head.hash }, sequenceNumber: 0 }
    const record = { heads: { unsafe: ref, safe: ref, finalized: ref }, committed: head, base: head, overlays: [] }
    const older = () => ({ ...recordedStates(proofs, reader, head.number, new HistoryCache()), [Symbol.dispose](): void {} })
    return createChainView(reader, this.config, record, { older }) ?? expect.fail()
  }

  /** Returns the witness of a block as JSON. */
  witness(number: number): string {
    const { config } = this
    const execution = { view: () => this.view() }
    const deps = { execution, evm: createWasmEvm(), traced: createTracedWasmEvm(), config, clock: systemClock, maxTraceBytes: 2 ** 28 }
    const tracing = createTracing(deps, new CacheSet(divideCache(usualCacheBytes(0))))
    using view = this.view()
    using work = tracing.witness(view.canonicalHash(number) as Hash) ?? expect.fail(`no state of block ${number - 1}`)
    while (work.outcome === undefined) expect(work.work()).not.toBe('pruned')
    return JSON.stringify(work.outcome, (_, value) => (value instanceof Uint8Array ? toHex(value) : value))
  }
}

describe.each(['chains/op-bedrock-to-holocene', 'chains/op-ecotone-to-jovian'])('%s', (folder) => {
  it(`proofs: gives another client's proofs and the same witnesses after ${generated} more blocks, of states that the chain has pruned`, async () => {
    const store = new RecordedStore(folder)
    const exchanges = exchangesOf(folder)
    const count = store.roots.length
    // the first half is recorded backwards, the second half forwards
    await store.execute(0, count >> 1)
    store.settle()
    store.proofs.write((tx) => writeWanted(tx, 0))
    store.settle()
    await store.execute(count >> 1, count)
    store.settle()
    const numbers = [...new Set(exchanges.map(({ number }) => number))].filter((number) => number > 0)
    const before = numbers.map((number) => store.witness(number))
    store.generate(generated, exchanges)
    const { head } = store
    while (!store.kv.write((tx) => pruneHistory(tx, { values: head - 20, nodes: head - 10 }, () => true)));
    using chain = store.kv.snapshot()
    using proofs = store.proofs.snapshot()
    expect(oldestState(chain)).toBe(head - 20)
    const states = recordedStates(proofs, chain, head, new HistoryCache())
    expect(states.window).toEqual({ earliest: 0, latest: head })
    for (const { number, proof } of exchanges) {
      const root = store.roots[number] ?? expect.fail(`block ${number} not found`)
      const { view, nodes } = states.at(number, () => undefined)
      const addressKey = keccak256(fromHex(proof.address))
      expect(createProof(nodes, undefined, root, addressKey).map(toHex)).toEqual(proof.accountProof)
      const storageRoot = view.account(addressKey)?.storageRoot ?? emptyRoot
      for (const { key, proof: recorded } of proof.storageProof) {
        const slotKey = keccak256(fromHex(`0x${key.slice(2).padStart(64, '0')}`))
        // for an empty trie one client returns no node, the other 0x80
        const expected = recorded.filter((node) => node !== '0x80')
        expect(createProof(nodes, addressKey, storageRoot, slotKey).map(toHex)).toEqual(expected)
      }
    }
    const after = numbers.map((number) => store.witness(number))
    expect(after).toEqual(before)
    for (let number = 1; number <= head; number += 97) expect(checkRecorded({ proofs, chain, head }, number)).toEqual([])
  }, 300_000)
})
