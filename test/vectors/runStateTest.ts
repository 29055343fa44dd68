import { applyTransaction } from '#block/execution/applyTransaction'
import type { EvmFork } from '#chainspec/evmRules'
import type { BlockEnv, Evm } from '#evm/ports'
import { bytesFromBigint, equalBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { encodeRlp, RlpError } from '#lib/rlp'
import { recoverAddress, secp256k1HalfOrder } from '#lib/secp256k1'
import { computeStateRoot } from '#state/stateRoot'
import { type Address, addressFromBytes, type Hash, hashFromBytes, parseAddress } from '#types/ids'
import { type Log, logToRlp } from '#types/log'
import type { StateDiff } from '#types/stateDiff'
import { decodeTransaction, type SignedTransaction, signatureBytes, signingDigest } from '#types/transaction'
import { blobBaseFee, ethereumFees, ethereumRules } from './ethereumFees.ts'
import { caseId, type StateTest, type StateTestCase, type StateTestEnv } from './stateTestCases.ts'
import { createWorld, type World } from './stateTestWorld.ts'

/** Failure of a case on one interpreter. A test without failures has passed. */
export type StateTestFailure = { readonly evm: string; readonly id: string; readonly reason: string }

export type NamedEvm = { readonly name: string; readonly evm: Evm }

function blockEnv(env: StateTestEnv, fork: EvmFork): BlockEnv {
  const number = (name: string, otherwise = '0x0'): bigint => BigInt(env[name] ?? otherwise)
  return {
    chainId: 1n,
    number: Number(number('currentNumber')),
    timestamp: Number(number('currentTimestamp')),
    beneficiary: parseAddress(env['currentCoinbase'] ?? ''),
    prevRandao: hashFromBytes(bytesFromBigint(number('currentRandom'), 32)),
    gasLimit: number('currentGasLimit'),
    baseFee: number('currentBaseFee', '0xa'),
    blobBaseFee: blobBaseFee(fork, number('currentExcessBlobGas')),
  }
}

function senderOf(tx: SignedTransaction): Address | undefined {
  const signature = signatureBytes(tx)
  if (!signature || tx.s > secp256k1HalfOrder) return undefined
  const sender = recoverAddress(signingDigest(tx), signature, tx.yParity)
  return sender && addressFromBytes(sender)
}

function decodedTransaction(raw: Uint8Array): SignedTransaction | undefined {
  try {
    const tx = decodeTransaction(raw)
    return tx.type === 0x7e ? undefined : tx
  } catch (error) {
    if (error instanceof RlpError) return undefined
    throw error
  }
}

const logsHash = (logs: readonly Log[]): string => hashFromBytes(keccak256(encodeRlp(logs.map(logToRlp))))

/** Transaction with its sender; undefined when it does not decode or its signature is invalid. */
type Sent = { readonly raw: Uint8Array; readonly tx: SignedTransaction; readonly sender: Address }

function sentTransaction(hex: string): Sent | undefined {
  const raw = fromHex(hex)
  const tx = decodedTransaction(raw)
  const sender = tx && senderOf(tx)
  return tx && sender && { raw, tx, sender }
}

/** State root after a diff. The root is cached, since interpreters mostly give the same bytes. */
function rootsOn({ nodes, root }: World): (diff: StateDiff) => Hash {
  let last: { readonly bytes: Uint8Array; readonly root: Hash } | undefined
  return (diff) => {
    const bytes = new Uint8Array(diff.bytes)
    if (!last || !equalBytes(last.bytes, bytes)) last = { bytes, root: computeStateRoot(nodes, root, diff).root }
    return last.root
  }
}

type Run = {
  readonly evm: Evm
  readonly world: World
  readonly rootOf: (diff: StateDiff) => Hash
  readonly test: StateTest
  readonly sent: Sent | undefined
}

function failureOf({ evm, world, rootOf, test, sent }: Run, { fork, root, logs }: StateTestCase): string | undefined {
  if (!sent) return root === null ? undefined : 'transaction does not decode'
  const { raw, tx, sender } = sent
  if (sender !== test.sender) return `sender ${sender}, expected ${test.sender}`
  const block = blockEnv(test.env, fork)
  using session = evm.open(world.view, block, ethereumRules[fork])
  const result = applyTransaction(session, block, ethereumRules[fork], ethereumFees(fork), tx, raw, sender, block.gasLimit)
  if (result.kind === 'refused') return root === null ? undefined : `refused: ${result.reason}`
  if (root === null) return `executed (${result.outcome.kind}) an invalid transaction`
  const gotLogs = logsHash(result.outcome.kind === 'success' ? result.outcome.logs : [])
  const gotRoot = rootOf(session.diff())
  const ran = `${result.outcome.kind}${result.outcome.kind === 'halt' ? ` ${result.outcome.reason}` : ''}, gas ${result.gasUsed}`
  if (gotRoot !== root) return `state root ${gotRoot}, expected ${root} (${ran})`
  return gotLogs === logs ? undefined : `logs hash ${gotLogs}, expected ${logs} (${ran})`
}

/** Runs the cases of a test on each interpreter; world and senders are computed once. */
export function runStateTest(evms: readonly NamedEvm[], test: StateTest): StateTestFailure[] {
  const world = createWorld(test.pre)
  const rootOf = rootsOn(world)
  const sent = new Map<string, Sent | undefined>()
  const sentBy = (raw: string): Sent | undefined => {
    if (!sent.has(raw)) sent.set(raw, sentTransaction(raw))
    return sent.get(raw)
  }
  const failures: StateTestFailure[] = []
  for (const stateTestCase of test.cases) {
    const id = caseId(test, stateTestCase)
    for (const { name, evm } of evms) {
      try {
        const reason = failureOf({ evm, world, rootOf, test, sent: sentBy(stateTestCase.raw) }, stateTestCase)
        if (reason !== undefined) failures.push({ evm: name, id, reason })
      } catch (error) {
        failures.push({ evm: name, id, reason: error instanceof Error ? (error.stack ?? error.message) : String(error) })
      }
    }
  }
  return failures
}
