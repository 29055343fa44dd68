import { gasAfterRefund, gasBounds } from '#block/validation/intrinsicGas'
import type { EvmRules, NativeFork } from '#chainspec/evmRules'
import type { BlockEnv, Evm, EvmSession, Outcome } from '#evm/ports'
import type { FrameEnd, FrameStart } from '#evm/traceEvents'
import { bytesFromBigint, trimLeft } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { type Address, hashFromBytes, zeroAddress, zeroHash } from '#types/ids'
import type { VectorFile, VectorResult, VectorSequence, VectorState, VectorTransaction } from './vectors.ts'
import { addressKeyOf, codeHashOf, slotKeyOf, VectorWorld } from './world.ts'

/** Difference of one transaction, or of the state root at the end. */
export type Difference = {
  readonly evm: string
  readonly sequence: string
  readonly index: number
  readonly label: string
  readonly isAdjusted: boolean
  readonly what: string
  readonly expected: string
  readonly actual: string
}

/** A frame as recorded by a traced interpreter. */
export type SeenFrame = { readonly start: FrameStart; end: FrameEnd | undefined }

/** An interpreter under test. `frames` collects those of the message that runs; undefined: not traced. */
export type Judged = { readonly name: string; readonly evm: Evm; readonly frames: SeenFrame[] | undefined }

const rulesByKey = new Map<string, EvmRules>()

export function vectorRules(fork: NativeFork, activationAdmin: Address | undefined): EvmRules {
  const key = `${fork} ${activationAdmin}`
  const known = rulesByKey.get(key)
  if (known) return known
  const rules: EvmRules = {
    fork: 'osaka',
    precompileLimits: { bn254PairingBytes: 81_984, blsG1MsmBytes: 288_960, blsG2MsmBytes: 278_784, blsPairingBytes: 156_672 },
    p256VerifyGas: 6_900,
    nativeContracts: { fork, ...(activationAdmin && { activationAdmin }) },
  }
  rulesByKey.set(key, rules)
  return rules
}

function blockOf({ chainId }: VectorFile, { number, timestamp }: VectorTransaction): BlockEnv {
  return {
    ...{ chainId: BigInt(chainId), number, timestamp, beneficiary: zeroAddress, prevRandao: zeroHash },
    ...{ gasLimit: 400_000_000n, baseFee: 0n, blobBaseFee: 1n },
  }
}

type Done = { readonly outcome: Outcome; readonly gasUsed: bigint }

/** Runs a transaction without fees and without checks of the sender. */
function runTransaction(session: EvmSession, rules: EvmRules, tx: VectorTransaction, gasLimit: bigint): Done {
  const accessList = (tx.accessList ?? []).map(({ address, storageKeys }) => ({ address, slots: storageKeys.map(slotHash) }))
  const data = fromHex(tx.data)
  const bounds = gasBounds(rules, { to: tx.to, data, gasLimit, accessList })
  session.beginTransaction({ origin: tx.from, gasPrice: 0n, blobHashes: [], warm: accessList })
  session.setNonce(tx.from, (session.account(tx.from)?.nonce ?? 0n) + 1n)
  const outcome = session.run({ caller: tx.from, to: tx.to, value: BigInt(tx.value ?? 0), data, gas: gasLimit - bounds.intrinsic })
  session.endTransaction()
  const gasUsed = gasAfterRefund(gasLimit, bounds.floor, outcome)
  return { outcome, gasUsed }
}

const slotHash = (slot: string) => hashFromBytes(bytesFromBigint(BigInt(slot), 32))

function expectedChanges(post: VectorState = {}): string[] {
  const changes: string[] = []
  for (const [address, { balance, nonce, code, storage }] of Object.entries(post)) {
    const key = addressKeyOf(address)
    if (nonce !== undefined) changes.push(`${key} nonce ${BigInt(nonce)}`)
    if (balance !== undefined) changes.push(`${key} balance ${BigInt(balance)}`)
    if (code !== undefined) changes.push(`${key} code ${codeHashOf(code)}`)
    for (const [slot, value] of Object.entries(storage ?? {})) {
      changes.push(`${key} ${slotKeyOf(slot)} ${toHex(trimLeft(bytesFromBigint(BigInt(value), 32)))}`)
    }
  }
  return changes.toSorted()
}

const logsText = (outcome: Outcome): string =>
  JSON.stringify(outcome.kind === 'success' ? outcome.logs.map(({ address, topics, data }) => [address, topics, toHex(data)]) : [])

/** Outcomes as the vectors name them: a refused call is a revert there. */
function outcomeName(end: string | undefined): string {
  if (end === 'insufficient balance' || end === 'call depth') return 'revert'
  return end === 'success' || end === 'revert' ? end : 'halt'
}

/** Compares the frames' kinds, accounts, gas and outcomes. A halted frame has no comparable gas; a DELEGATECALL names its caller differently. */
function framesText(frames: VectorResult['frames'] | readonly SeenFrame[]): string {
  const rows = frames.map((frame) => {
    const [depth, kind, from, to, gas, used, , outcome] = 'start' in frame ? seenRow(frame) : (frame as VectorResult['frames'][number])
    const name = outcomeName(outcome)
    return [depth, kind, kind === 'delegatecall' ? '' : from, to, gas, name === 'halt' ? '' : used, name].join(' ')
  })
  return rows.join('\n')
}

function seenRow({ start, end }: SeenFrame): VectorResult['frames'][number] {
  const { depth, kind, from, to, gas } = start
  return [depth, kind.toLowerCase(), from, to, gas, end?.gasUsed ?? -1, 0, end?.end ?? '']
}

/** Runs a sequence. @returns the first difference, after which the state differs too */
export function replay(judged: Judged, file: VectorFile, sequence: VectorSequence): Difference | undefined {
  const world = new VectorWorld(sequence.pre)
  let fork = sequence.fork
  for (const [index, tx] of sequence.txs.entries()) {
    fork = tx.fork ?? fork
    const rules = vectorRules(tx.fork ?? sequence.fork, sequence.activationAdmin)
    using session = judged.evm.open(world.view(), blockOf(file, tx), rules)
    if (judged.frames) judged.frames.length = 0
    const { outcome, gasUsed } = runTransaction(session, rules, tx, BigInt(tx.gasLimit ?? file.defaultGasLimit))
    const changes = world.apply(session.diff())
    const { result } = tx
    const compared: [string, string, string][] = [
      ['outcome', result.kind, outcome.kind],
      ['output', result.output ?? '0x', toHex(outcome.output)],
      ['gas', `${result.gasUsed}`, `${gasUsed}`],
      ['logs', JSON.stringify(result.logs ?? []), logsText(outcome)],
      ['post', expectedChanges(result.post).join('\n'), changes.join('\n')],
    ]
    if (judged.frames) compared.push(['frames', framesText(result.frames), framesText(judged.frames)])
    const found = compared.find(([, expected, actual]) => expected !== actual)
    const about = { evm: judged.name, sequence: sequence.name, index, label: tx.label ?? '', isAdjusted: tx.adjusted === true }
    if (found) return { ...about, what: found[0], expected: found[1], actual: found[2] }
  }
  const root = world.root()
  if (root === sequence.stateRoot) return undefined
  const about = { evm: judged.name, sequence: sequence.name, index: sequence.txs.length, label: '', isAdjusted: false }
  return { ...about, what: 'stateRoot', expected: sequence.stateRoot, actual: root }
}
