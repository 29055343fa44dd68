import { type BlockDeps, type BlockExecutor, createBlockExecutor, type ParentBlock } from '#block/execution/executeBlock'
import type { BlockInput, ExecutedBlock } from '#block/execution/executedBlock'
import { createSenders, senderCacheBytes } from '#block/execution/senders'
import { genesisBlock } from '#block/genesisBlock'
import { parseBaseGenesisNote } from '#chainspec/baseGenesis'
import type { EvmRules } from '#chainspec/evmRules'
import { agreeWithGenesis } from '#chainspec/genesis'
import { parseRollupConfig, type RollupConfig } from '#chainspec/rollupConfig'
import type { BlockEnv, Evm, EvmSession, Message, StateView, TransactionEnv } from '#evm/ports'
import { createTraceableEvm } from '#evm/traceableEvm'
import type { TracedEnd, TracedTransaction, Tracer } from '#evm/traceEvents'
import type { TracedEvm } from '#evm/wasmEvm'
import { fromHex, type Hex } from '#lib/hex'
import type { CallMessage, MeasuredCall } from '#rpc/callPorts'
import { runCall } from '#simulation/call/callExecutor'
import { emptyState } from '#state/genesisState'
import { push, type StateStack, stackedState } from '#state/stateStack'
import { createReferenceEvm } from '#test/reference/referenceEvm'
import { decodeBlock } from '#types/block'
import type { Address, Hash } from '#types/ids'
import { decodeTransaction, depositType } from '#types/transaction'
import { readSharedJson } from '../sharedData.ts'
import { type OracleRun, traceWithOracle } from './traceOracle.ts'

type RecordedBlocks = { readonly blocks: readonly { readonly raw: Hex }[] }
type ChainBlock = { readonly block: ExecutedBlock; readonly parent: ParentBlock; readonly input: BlockInput }

/** Thrown in place of running a message. */
class Stopped extends Error {}

/** Session that records its calls. */
class Watched {
  readonly evm: Evm
  readonly touched = new Set<Address>()
  stopsAtRun = false
  message: Message | undefined
  transaction: TransactionEnv | undefined
  #session: EvmSession | undefined
  #place: { readonly block: BlockEnv; readonly rules: EvmRules; readonly view: StateView } | undefined

  constructor() {
    this.evm = {
      open: (view, block, rules) => {
        this.#place = { view, block, rules }
        return this.#watch(createReferenceEvm().open(view, block, rules))
      },
    }
  }

  /** Message that was about to run, with its environment and state; undefined without one. */
  get run(): OracleRun | undefined {
    const { message, transaction } = this
    if (message === undefined || transaction === undefined || this.#place === undefined) return undefined
    const { view, block, rules } = this.#place
    return { message, transaction, block, rules, state: this.session, blockHash: (number) => view.blockHash(number) }
  }

  get session(): EvmSession {
    if (this.#session === undefined) throw new Error('not opened')
    return this.#session
  }

  #watch(session: EvmSession): EvmSession {
    this.#session = session
    const touch = (address: Address): Address => {
      this.touched.add(address)
      return address
    }
    return {
      account: (address) => session.account(address),
      slot: (address, slot) => session.slot(address, slot),
      code: (address) => session.code(address),
      addBalance: (address, wei) => session.addBalance(touch(address), wei),
      subtractBalance: (address, wei) => session.subtractBalance(touch(address), wei),
      setNonce: (address, nonce) => session.setNonce(touch(address), nonce),
      setCode: (address, code) => session.setCode(touch(address), code),
      setSlot: (address, slot, value) => session.setSlot(touch(address), slot, value),
      checkpoint: () => session.checkpoint(),
      revertTo: (checkpoint) => session.revertTo(checkpoint),
      beginTransaction: (env) => {
        this.transaction = env
        session.beginTransaction(env)
      },
      run: (message, interruptCheck) => {
        this.message = message
        if (this.stopsAtRun) throw new Stopped()
        return session.run(message, interruptCheck)
      },
      resume: () => session.resume(),
      endTransaction: () => session.endTransaction(),
      diff: () => session.diff(),
      changed: () => session.changed(),
      readKeys: () => session.readKeys(),
      [Symbol.dispose]: () => session[Symbol.dispose](),
    }
  }
}

function inputOf({ header, transactions }: ReturnType<typeof decodeBlock>): BlockInput {
  const { timestamp, beneficiary, mixHash, gasLimit, extraData, parentBeaconBlockRoot } = header
  const root = parentBeaconBlockRoot !== undefined && { parentBeaconBlockRoot }
  return { timestamp, beneficiary, prevRandao: mixHash, gasLimit, extraData, ...root, transactions }
}

/** Recorded chain whose transactions can be run again with a tracer. */
export class TracedChain {
  readonly #deps: BlockDeps & { readonly config: RollupConfig }
  readonly #blocks: ChainBlock[] = []
  /** By block number. */
  readonly #parents: ParentBlock[] = []
  readonly #traced: TracedEvm | undefined
  #stack: StateStack = []

  /** @param traced interpreter that runs and traces; without it another project's interpreter does */
  constructor(folder: string, traced?: TracedEvm) {
    this.#traced = traced
    const recorded = readSharedJson<RecordedBlocks>(`${folder}/l2.json.zst`)
    const { genesis } = parseBaseGenesisNote(recorded)
    const config = agreeWithGenesis(parseRollupConfig(readSharedJson(`${folder}/rollup.json`)), genesis)
    this.#deps = { evm: createReferenceEvm(), config, senders: createSenders({ maxBytes: senderCacheBytes }) }
    let parent = this.#push(genesisBlock(genesis, config.schedule))
    for (const { raw } of recorded.blocks.slice(1)) {
      const input = inputOf(decodeBlock(fromHex(raw)))
      const opened = this.#open(this.#deps.evm, parent, input)
      const refusal = opened.takeAll()
      if (refusal !== undefined) throw new Error(refusal.reason)
      const block = opened.seal()
      this.#blocks.push({ block, parent, input })
      parent = this.#push(block)
    }
  }

  #push(block: ExecutedBlock): ParentBlock {
    const { header, hash, diff, trie } = block
    this.#stack = push(this.#stack, { diff, result: trie, block: { hash, number: header.number } })
    const parent = { header, hash, state: stackedState(emptyState, this.#stack) }
    this.#parents.push(parent)
    return parent
  }

  #open(evm: Evm, parent: ParentBlock, input: BlockInput): BlockExecutor {
    const opened = createBlockExecutor({ ...this.#deps, evm }, parent, input)
    if (opened.kind === 'invalid') throw new Error(opened.reason)
    return opened.block
  }

  #at(number: number): ChainBlock {
    const found = this.#blocks[number - 1]
    if (found === undefined) throw new Error(`block ${number} not found`)
    return found
  }

  /** Returns the hashes of a block's transactions. */
  transactions(number: number): readonly Hash[] {
    return this.#at(number).block.executed.map(({ hash }) => hash)
  }

  find(hash: Hash): { readonly number: number; readonly index: number } {
    for (const { block } of this.#blocks) {
      const index = block.executed.findIndex((one) => one.hash === hash)
      if (index >= 0) return { number: block.header.number, index }
    }
    throw new Error(`transaction ${hash} not found`)
  }

  /** Runs transaction `index` of a block with a tracer, which has its result afterwards. @returns the oracle's prices of the steps */
  async trace(number: number, index: number, tracer: Tracer): Promise<readonly number[]> {
    const { block, parent, input } = this.#at(number)
    const openWith = (evm: Evm): BlockExecutor => {
      const opened = this.#open(evm, parent, input)
      for (const raw of block.transactions.slice(0, index)) opened.take(raw)
      return opened
    }
    const openBefore = (watched: Watched): BlockExecutor => {
      const opened = openWith(watched.evm)
      watched.touched.clear()
      watched.message = undefined
      return opened
    }
    const raw = block.transactions[index]
    const executed = block.executed[index]
    if (raw === undefined || executed === undefined) throw new Error(`transaction ${index} of block ${number} not found`)
    const [before, during, after] = [new Watched(), new Watched(), new Watched()]
    const end = { gasUsed: Number(executed.gasUsed), succeeded: executed.receipt.succeeded }
    const facts = factsOf(block, index, executed.sender)
    openBefore(before)
    if (this.#traced !== undefined) {
      const work = (evm: Evm): (() => void) => {
        const opened = openWith(evm)
        return () => opened.take(raw)
      }
      return listenTo(this.#traced, { tracer, facts, before: before.session, end: () => end }, work)
    }
    const running = openBefore(during)
    openBefore(after).take(raw)
    stopAtRun(during, () => running.take(raw))
    return this.#trace(tracer, facts, { before, during, after }, end)
  }

  /** Traces a message in the environment of a block, on the state after it. */
  async traceCall(number: number, message: CallMessage, tracer: Tracer): Promise<readonly number[]> {
    const at = this.#parents[number]
    if (at === undefined) throw new Error(`block ${number} not found`)
    const { config } = this.#deps
    const [before, during, after] = [new Watched(), new Watched(), new Watched()]
    const { from, to, value, data, gasLimit } = message
    const facts = { from, to, value, data, gas: Number(gasLimit), blockHash: undefined, blockNumber: number, hash: undefined, index: 0 }
    const endOf = ({ outcome, gasUsed }: MeasuredCall): TracedEnd => ({ gasUsed: Number(gasUsed), succeeded: outcome.kind === 'success' })
    stopAtRun(before, () => runCall({ evm: before.evm, config }, at, message))
    if (this.#traced !== undefined) {
      let measured: MeasuredCall | undefined
      const work =
        (evm: Evm): (() => void) =>
        () => {
          measured = runCall({ evm, config }, at, message)
        }
      const end = (): TracedEnd => endOf(present(measured))
      return listenTo(this.#traced, { tracer, facts, before: before.session, end }, work)
    }
    const end = endOf(runCall({ evm: after.evm, config }, at, message))
    stopAtRun(during, () => runCall({ evm: during.evm, config }, at, message))
    return this.#trace(tracer, facts, { before, during, after }, end)
  }

  async #trace(
    tracer: Tracer,
    facts: TracedTransaction,
    { before, during, after }: Readonly<Record<'before' | 'during' | 'after', Watched>>,
    end: TracedEnd,
  ): Promise<readonly number[]> {
    tracer.begin(facts)
    for (const address of after.touched) tracer.onAccount(address)
    const prices = during.run === undefined ? [] : await traceWithOracle(during.run, tracer)
    tracer.end(end, before.session, after.session)
    return prices
  }
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('no message has run')
  return value
}

type Listening = {
  readonly tracer: Tracer
  readonly facts: TracedTransaction
  readonly before: EvmSession
  end(): TracedEnd
}

/** Traces the work that follows `prepare`, which runs untraced. @returns no prices: this interpreter reports none */
function listenTo(traced: TracedEvm, { tracer, facts, before, end }: Listening, prepare: (evm: Evm) => () => void): readonly number[] {
  const { evm, listen } = createTraceableEvm(traced)
  let session: EvmSession | undefined
  const work = prepare({
    open(view, block, rules) {
      session = evm.open(view, block, rules)
      return session
    },
  })
  tracer.begin(facts)
  listen(tracer)
  work()
  listen(undefined)
  using after = present(session)
  tracer.end(end(), before, after)
  return []
}

/** Runs until the first message is about to begin. */
function stopAtRun(watched: Watched, work: () => void): void {
  watched.stopsAtRun = true
  try {
    work()
  } catch (error) {
    if (!(error instanceof Stopped)) throw error
  }
}

function factsOf(block: ExecutedBlock, index: number, from: Address): TracedTransaction {
  const raw = block.transactions[index]
  if (raw === undefined) throw new Error(`transaction ${index} not found`)
  const transaction = decodeTransaction(raw)
  const { to, value, data, gasLimit } = transaction
  return {
    ...{ from: transaction.type === depositType ? transaction.from : from, to, value, data, gas: Number(gasLimit) },
    blockHash: block.hash,
    blockNumber: block.header.number,
    hash: block.executed[index]?.hash,
    index,
  }
}
