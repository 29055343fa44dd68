// B20 transfers against the ERC-20 transfers of the interpreter's bench: the same loop calls both tokens.
import type { EvmRules } from '#chainspec/evmRules'
import type { BlockEnv, Evm, EvmSession, StateView } from '#evm/ports'
import { bytesFromBigint, concatBytes, padLeft } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256Text } from '#lib/keccak'
import { activationRegistryAddress, factoryAddress } from '#nativeContracts/addresses'
import { type Address, addressFromBytes, parseAddress, zeroAddress, zeroHash } from '#types/ids'
import { codeOf } from './evm/workloads.ts'
import { chosenEvm, type EvmOptions } from './evm/world.ts'
import { median, type Row } from './format.ts'

const transfersPerRun = 50_000
const defaultRounds = 7
const leastRatio = 2

const admin = parseAddress('0x00000000000000000000000000000000000ad317')
const looper = parseAddress('0x0000000000000000000000000000000000100be4')
const erc20 = parseAddress('0x000000000000000000000000000000000000be01')
const gas = 2n ** 44n

const rules: EvmRules = { fork: 'osaka', precompileLimits: {}, nativeContracts: { fork: 'denim', activationAdmin: admin } }
const block: BlockEnv = {
  ...{ chainId: 8453n, number: 1, timestamp: 1_794_000_000, beneficiary: zeroAddress, prevRandao: zeroHash },
  ...{ gasLimit: gas, baseFee: 0n, blobBaseFee: 1n },
}
const emptyView: StateView = {
  account: () => undefined,
  slot: () => undefined,
  code: () => {
    throw new RangeError('an empty view has no code')
  },
  blockHash: () => undefined,
}

/**
 * Calls `transfer` of the token in the first argument, as often as the second says, to 64 receivers, and reverts: each run starts from the same
 * state, and no time goes to logs that the host reads.
 */
const looperCode = fromHex(
  '0x63a9059cbb5f525f5b80603f166110000160205280600702600101604052602060606044601c5f5f355af115603d5760010180602035116008575f5ffd5bfe',
)

const word = (value: bigint | string): Uint8Array => (typeof value === 'string' ? padLeft(fromHex(value), 32) : bytesFromBigint(value, 32))
const call = (signature: string, ...words: readonly (bigint | string)[]): Uint8Array =>
  concatBytes(keccak256Text(signature).subarray(0, 4), ...words.map(word))

/** Runs a transaction with one message. @returns its output. @throws Error when it fails */
function send(session: EvmSession, caller: Address, to: Address, data: Uint8Array, end: 'success' | 'revert' = 'success'): Uint8Array {
  session.beginTransaction({ origin: caller, gasPrice: 0n, blobHashes: [], warm: [] })
  const outcome = session.run({ caller, to, value: 0n, data, gas })
  if (outcome.kind !== end) throw new Error(`a call of ${to} ends in ${outcome.kind}`)
  session.endTransaction()
  return outcome.output
}

const text = (value: string): Uint8Array => concatBytes(word(BigInt(value.length)), padRight(Buffer.from(value)))
const padRight = (bytes: Uint8Array): Uint8Array => concatBytes(bytes, new Uint8Array((32 - (bytes.length % 32)) % 32))

/** Activates assets and creates one whose admin may mint. */
function createB20(session: EvmSession): Address {
  session.setCode(looper, looperCode)
  const feature = `0x${Buffer.from(keccak256Text('base.b20_asset')).toString('hex')}`
  send(session, admin, activationRegistryAddress, call('activate(bytes32)', feature))
  const struct = concatBytes(word(1n), word(0xa0n), word(0xe0n), word(admin), word(6n), text('Bench'), text('BNC'))
  const params = concatBytes(word(BigInt(struct.length + 32)), word(32n), struct)
  const heads = call('createB20(uint8,bytes32,bytes,bytes[])', 0n, 1n, 0x80n, 0x80n + BigInt(params.length))
  const token = addressFromBytes(send(session, admin, factoryAddress, concatBytes(heads, params, word(0n))).subarray(12))
  const role = `0x${Buffer.from(keccak256Text('MINT_ROLE')).toString('hex')}`
  send(session, admin, token, call('grantRole(bytes32,address)', role, admin))
  send(session, admin, token, call('mint(address,uint256)', looper, 10n ** 30n))
  return token
}

function createErc20(session: EvmSession): Address {
  session.setCode(looper, looperCode)
  session.setCode(erc20, codeOf('Token'))
  send(session, admin, erc20, call('mint(address,uint256)', looper, 10n ** 30n))
  return erc20
}

/** Processor time of this thread: other programs on the machine do not count. */
const nowMs = (): number => process.threadCpuUsage().user / 1_000

/** Returns transfers per second of one run, after the same run untimed. */
function measure(evm: Evm, create: (session: EvmSession) => Address): number {
  using session = evm.open(emptyView, block, rules)
  const data = concatBytes(word(create(session)), word(BigInt(transfersPerRun)))
  send(session, admin, looper, data, 'revert')
  const startMs = nowMs()
  send(session, admin, looper, data, 'revert')
  return (transfersPerRun * 1_000) / (nowMs() - startMs)
}

export async function run({ evm: name = 'wasm', rounds = defaultRounds, judge = false }: EvmOptions): Promise<readonly Row[]> {
  const evm = await chosenEvm(name)
  const [b20, erc]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    b20.push(measure(evm, createB20))
    erc.push(measure(evm, createErc20))
  }
  const ratio = Math.max(...b20) / Math.max(...erc)
  console.log(`B20 ${Math.max(...b20).toFixed(0)}/s, ERC-20 ${Math.max(...erc).toFixed(0)}/s, ratio of the best ${ratio.toFixed(2)}`)
  if (judge && ratio < leastRatio) process.exitCode = 1
  return [
    {
      name: 'B20 transfers through CALL',
      unit: '/s',
      value: median(b20),
      runs: b20,
      against: { name: 'ERC-20', value: median(erc), runs: erc },
    },
  ]
}
