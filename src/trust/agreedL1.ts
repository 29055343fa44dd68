import type { Clock } from '#lib/clock'
import { type Fault, isFault } from '#lib/fault'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import type { Log } from '#lib/log'
import { isRetryable } from '#lib/retry'
import { type Address, emptyCodeHash, type Hash, hashFromBytes } from '#types/ids'
import { trustFault } from './faults.ts'
import type { TrustMetrics } from './metrics.ts'
import type { L1StateRef, L1Witness, ProofRequest } from './ports.ts'
import { type ProvedAccount, provedAccount } from './provedAccount.ts'
import { type Refusal, refused } from './refusal.ts'

/** Oldest finalized block that counts. L1 finalizes a block after 13 to 20 minutes; it has taken more than an hour once. */
const maxFinalizedAgeSec = 7_200
/** Endpoints that must agree on the finalized block. */
const minWitnesses = 2

export type AgreedL1Deps = {
  readonly witnesses: readonly L1Witness[]
  readonly clock: Pick<Clock, 'nowMs'>
  readonly log: Log
  readonly metrics: Pick<TrustMetrics, 'reads'>
}

/** L1 after a finalized block on which all endpoints agree. Every value is proved against the block's state root. */
export interface AgreedL1 {
  readonly kind: 'agreed'
  readonly block: L1StateRef
  /** Returns accounts with slots, in the order of the requests. @throws Fault L1_PROOF_INVALID, those of the endpoints (retry); the signal's reason */
  accounts(requests: readonly ProofRequest[], signal: AbortSignal): Promise<readonly ProvedAccount[]>
  /** Returns the code of accounts, whose hashes are proved, in their order. @throws as `accounts` */
  codes(wanted: readonly { readonly address: Address; readonly hash: Hash }[], signal: AbortSignal): Promise<readonly Uint8Array[]>
}

type Stated = { readonly witness: L1Witness; readonly block: L1StateRef | undefined }

const endpointFix = 'configure two L1 endpoints of different providers that serve recent blocks: --l1.rpc=URL,URL'

/** Returns why the statements of endpoints about the finalized block do not count; undefined: they do. Pure. @param nowSec wall clock */
function statementProblem(stated: readonly Stated[], nowSec: number): string | undefined {
  const hosts = new Set(stated.map(({ witness }) => hostOf(witness)))
  if (hosts.size < minWitnesses)
    return `${hosts.size} of the L1 endpoints answers, two of different hosts must agree on the finalized block`
  for (const { witness, block } of stated) {
    if (block === undefined) return `${witness.name} has no finalized L1 block`
    const ageSec = nowSec - block.timestamp
    if (ageSec > maxFinalizedAgeSec) return `the finalized L1 block of ${witness.name}, block ${block.number}, is ${ageSec} s old`
  }
  return undefined
}

/** Endpoints of one host are numbered: `host (2)`. */
const hostOf = ({ name }: L1Witness): string => name.replace(/ \(\d+\)$/, '')

/**
 * Asks all endpoints for their finalized block, and agrees on the lowest of them: every endpoint must have the same block at its number. An endpoint that
 * does not answer has no say, as long as endpoints of two other hosts agree.
 * @throws Fault of an endpoint when none states its finalized block, or one does not answer afterwards and fewer than two hosts agree (retry); the signal's reason
 */
export async function agreeOnL1(deps: AgreedL1Deps, signal: AbortSignal): Promise<AgreedL1 | Refusal> {
  const { answered: stated, failure } = await answering(deps, signal, (witness) => witness.finalized(signal))
  if (stated.length === 0 && failure) throw failure
  const problem = statementProblem(stated, Math.floor(deps.clock.nowMs() / 1_000))
  if (problem !== undefined) return refused(problem, endpointFix)
  const blocks = stated.flatMap(({ block }) => (block ? [block] : []))
  const lowest = blocks.reduce((low, block) => (block.number < low.number ? block : low))
  const others = stated.filter(({ block }) => block?.hash !== lowest.hash)
  const { answered: seconds, failure: silence } = await answering(
    { ...deps, witnesses: others.map(({ witness }) => witness) },
    signal,
    (witness) => witness.at(lowest.number, signal),
  )
  const other = seconds.find(({ block }) => block?.hash !== lowest.hash)
  if (other) {
    const found = other.block ? `has ${other.block.hash}` : 'does not have it'
    return refused(
      `the L1 endpoints disagree on the finalized block ${lowest.number}, ${lowest.hash}: ${other.witness.name} ${found}`,
      endpointFix,
    )
  }
  const agreeing = [...stated.filter(({ block }) => block?.hash === lowest.hash), ...seconds].map(({ witness }) => witness)
  const isEnough = new Set(agreeing.map(hostOf)).size >= minWitnesses
  if (!isEnough && silence) throw silence
  if (!isEnough) return refused('one L1 endpoint alone has the finalized block', endpointFix)
  return createAgreedL1({ ...deps, witnesses: agreeing }, lowest)
}

/** Asks all endpoints at once and leaves out failures. `failure`: the last fault */
async function answering(
  { witnesses, log }: AgreedL1Deps,
  signal: AbortSignal,
  ask: (witness: L1Witness) => Promise<L1StateRef | undefined>,
): Promise<{ readonly answered: readonly Stated[]; readonly failure: Fault | undefined }> {
  let failure: Fault | undefined
  const stated = await Promise.all(
    witnesses.map(async (witness): Promise<Stated | undefined> => {
      try {
        return { witness, block: await ask(witness) }
      } catch (error) {
        signal.throwIfAborted()
        if (!isFault(error)) throw error
        log.warn('L1 endpoint does not state its finalized block', { endpoint: witness.name, code: error.code, says: error.message })
        failure = error
        return undefined
      }
    }),
  )
  return { answered: stated.filter((one) => one !== undefined), failure }
}

function createAgreedL1({ witnesses, log, metrics }: AgreedL1Deps, block: L1StateRef): AgreedL1 {
  /** Endpoints that failed or lied are asked last. */
  let order = witnesses

  /** Asks one endpoint after the other until one sends valid data. */
  async function fromAny<T>(signal: AbortSignal, ask: (witness: L1Witness) => Promise<T>): Promise<T> {
    let last: unknown
    for (const witness of order) {
      try {
        const value = await ask(witness)
        metrics.reads.inc({ outcome: 'ok' })
        return value
      } catch (error) {
        signal.throwIfAborted()
        if (!isRetryable(error)) throw error
        const { code, message: says, fix } = error
        metrics.reads.inc({ outcome: code === 'L1_PROOF_INVALID' ? 'invalid' : 'failed' })
        log.warn('L1 endpoint sends no proof, trying the next one', { endpoint: witness.name, code, says, fix })
        order = [...order.filter((other) => other !== witness), witness]
        last = error
      }
    }
    throw last
  }

  const invalid = (witness: L1Witness, what: string, reason: string): Error =>
    trustFault('L1_PROOF_INVALID', { endpoint: witness.name, what, block: block.number, reason })

  return {
    kind: 'agreed',
    block,
    accounts: (requests, signal) =>
      fromAny(signal, async (witness) => {
        const answers = await witness.proofs(block.number, requests, signal)
        return requests.map((request, i) => {
          const verdict = provedAccount(block.stateRoot, request, answers[i])
          if (verdict.kind === 'invalid') throw invalid(witness, `account ${request.address}`, verdict.reason)
          return verdict
        })
      }),
    codes: (wanted, signal) =>
      fromAny(signal, async (witness) => {
        const answers = await witness.codes(
          block.number,
          wanted.map(({ address }) => address),
          signal,
        )
        return wanted.map(({ address, hash }, i) => {
          const code = codeOf(answers[i], hash)
          if (code === undefined) throw invalid(witness, `the code of ${address}`, 'its hash is another one')
          return code
        })
      }),
  }
}

/** Returns code that has the proved hash; undefined for anything else. */
function codeOf(answer: unknown, hash: Hash): Uint8Array | undefined {
  if (typeof answer !== 'string' || !/^0x(?:[0-9a-fA-F]{2})*$/.test(answer)) return undefined
  const code = fromHex(answer)
  const found = code.length === 0 ? emptyCodeHash : hashFromBytes(keccak256(code))
  return found === hash ? code : undefined
}
