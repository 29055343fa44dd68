import {
  type Abi,
  encodeAbiParameters,
  encodeErrorResult,
  encodeFunctionData,
  type Hex,
  parseAbi,
  parseAbiParameters,
  toHex as toViemHex,
} from 'viem'
import { expect, it } from 'vitest'
import { fromHex, toHex } from '#lib/hex'
import { parseAddress, parseHash } from '#types/ids'
import { decodeArguments, encodeCall, encodeStruct } from '../abi.ts'
import { devnetAccounts, testMnemonic } from '../accounts.ts'
import type { RemoteDevnet } from '../remoteDevnet.ts'
import { ensureActivated } from './activation.ts'
import { featureHash, features, mintRole, scopeHash } from './names.ts'
import { createPolicy, describePolicy, updateMembers } from './policy.ts'
import { revertText } from './revertText.ts'
import { createToken, mint, readDecimals, readToken, setPolicy, transfer } from './token.ts'

const abi = parseAbi([
  'function createB20(uint8 variant, bytes32 salt, bytes params, bytes[] initCalls)',
  'function grantRole(bytes32 role, address account)',
  'function createPolicyWithAccounts(address admin, uint8 policyType, address[] accounts)',
  'function updateBlocklist(uint64 id, bool isMember, address[] accounts)',
  'function updateAllowlist(uint64 id, bool isMember, address[] accounts)',
  'function updatePolicy(bytes32 scope, uint64 id)',
  'function mint(address to, uint256 amount)',
  'function transfer(address to, uint256 amount)',
  'function transferWithMemo(address to, uint256 amount, bytes32 memo)',
  'function activate(bytes32 feature)',
])
const { accounts } = devnetAccounts(testMnemonic, 6)
const [first, , , , , admin] = accounts
if (!first || !admin) throw new Error('no accounts')
const token = parseAddress(`0xb2${'00'.repeat(9)}00${'78ee7ce2fe4908108c'}`)
const stablecoin = parseAddress(`0xb2${'00'.repeat(9)}01${'78ee7ce2fe4908108c'}`)
const to = parseAddress(`0x${'ab'.repeat(20)}`)
const salt = parseHash(`0x${'5a'.repeat(32)}`)
const factory = '0xb20f000000000000000000000000000000000000'
const policyRegistry = '0x8453000000000000000000000000000000000002'
const wordOf = (value: bigint | string): Hex => `0x${BigInt(value).toString(16).padStart(64, '0')}`

/** Devnet that answers `eth_call` by selector, and records the calls that it would send. */
function scripted(answers: Readonly<Record<string, Hex>>, logs: readonly unknown[] = []) {
  const sent: { to: string; data: Hex; from: string }[] = []
  const l2: RemoteDevnet['l2'] = async (method, params, parse) => {
    const [call] = params as readonly { to: string; data: Hex; from: string }[]
    if (method === 'eth_call') return parse(answers[(call?.data ?? '').slice(0, 10)] ?? '0x')
    if (method === 'eth_estimateGas' && call) sent.push(call)
    const hash = parseHash(`0x${'77'.repeat(32)}`)
    const results: Readonly<Record<string, unknown>> = {
      eth_getTransactionCount: '0x0',
      eth_estimateGas: '0x5208',
      eth_getBlockByNumber: { baseFeePerGas: '0x64' },
      eth_sendRawTransaction: hash,
      eth_getTransactionReceipt: {
        ...{ transactionHash: hash, status: '0x1', blockNumber: '0x9', blockHash: hash, gasUsed: '0x5208', contractAddress: null, logs },
      },
    }
    return parse(results[method])
  }
  const facts = { chainId: 901, accounts: accounts.map(({ address }) => address) } as unknown as RemoteDevnet['facts']
  const until: RemoteDevnet['until'] = async (_what, look) => (await look()) ?? expect.fail()
  const devnet: RemoteDevnet = { facts, l1: l2, l2, rollup: l2, control: l2, until }
  return { devnet, sent }
}
const selectors = {
  decimals: '0x313ce567',
  isInitialized: '0x6a45ba98',
  isActivated: '0xba87af80',
  admin: '0xf851a440',
} as const

it('devnet/b20/names: roles, scopes and features have the hashes of the reference implementation', () => {
  expect(mintRole).toBe('0x154c00819833dac601ee5ddded6fda79d9d8b506b911b3dbd54cdb95fe6c3686')
  expect(scopeHash('sender')).toBe('0xb81736c875ab819dd97f59f2a6542cfb731ad52b4ae15a6f24df2fb02b0327f5')
  expect(scopeHash('receiver')).toBe('0x8a4b3fa2d8b921852bc0089c6ef0958aa6961897be36fd731330fe2cd23f8363')
  expect(scopeHash('executor')).toBe('0x10be5173aff2a44e748bd9acd8b19fe34689581398a9db7ba2fb671e786ff7d8')
  expect(scopeHash('mint-receiver')).toBe('0xa0d5ae037e66a09119acf080a1d807abb9b6d03b6b9130eb19f7c1e6bdb8ffc8')
  expect(featureHash(features.asset)).toBe('0xcdcc772fe4cbdb1029f822861176d09e646db96723d4c1e82ddfdeb8163ef54c')
  expect(featureHash(features.stablecoin)).toBe('0xecfa0def2c10020caaf65e6155aa69c84b24892aaef76eeac52e0e2b3a0b8601')
  expect(featureHash(features.policy)).toBe('0xb582ebae03f16fee49a6763f78df482fb11ae73f103ed0d330bbe556aa90a43f')
})

it.each(['', 'A', 'x'.repeat(32), 'Straße'.repeat(9)])(
  'devnet/abi: encodes and decodes texts, lists and structs as viem does (%j)',
  (text) => {
    const types = parseAbiParameters('(uint8 version, string name, string symbol, address admin, uint8 decimals)')
    const struct = encodeStruct('(uint8,string,string,address,uint8)', [1, text, 'SYM', to, 18])
    expect(toHex(struct)).toBe(encodeAbiParameters(types, [{ version: 1, name: text, symbol: 'SYM', admin: to, decimals: 18 }]))
    const list = [to, token]
    const call = encodeCall('createPolicyWithAccounts(address,uint8,address[])', [to, 1, list])
    expect(toHex(call)).toBe(encodeFunctionData({ abi, functionName: 'createPolicyWithAccounts', args: [to, 1, list] }))
    const params = parseAbiParameters('string, address[], uint256, bool, bytes32')
    const encoded = fromHex(encodeAbiParameters(params, [text, list, 7n, true, salt]))
    expect(decodeArguments('(string,address[],uint256,bool,bytes32)', encoded)).toEqual([text, list, 7n, true, salt])
    expect(decodeArguments('(string)', encoded.subarray(0, 40))).toBeUndefined()
  },
)

it.each<[string, string, readonly unknown[], string]>([
  ['error InsufficientBalance(address a, uint256 b, uint256 c)', 'InsufficientBalance', [to, 1n, 5n], `InsufficientBalance(${to}, 1, 5)`],
  ['error PolicyForbids(bytes32 s, uint64 id)', 'PolicyForbids', [scopeHash('sender'), 2n], 'PolicyForbids(TRANSFER_SENDER_POLICY, 2)'],
  [
    'error AccessControlUnauthorizedAccount(address a, bytes32 r)',
    'AccessControlUnauthorizedAccount',
    [to, mintRole],
    `AccessControlUnauthorizedAccount(${to}, MINT_ROLE)`,
  ],
  ['error FeatureNotActivated(bytes32 f)', 'FeatureNotActivated', [featureHash(features.asset)], 'FeatureNotActivated(base.b20_asset)'],
  ['error InvalidCurrency(string c)', 'InvalidCurrency', ['usd'], 'InvalidCurrency("usd")'],
  ['error PolicyNotFound()', 'PolicyNotFound', [], 'PolicyNotFound()'],
  ['error PolicyNotFound(uint64 id)', 'PolicyNotFound', [9n], 'PolicyNotFound(9)'],
  ['error BatchSizeTooLarge(uint256 max)', 'BatchSizeTooLarge', [64n], 'BatchSizeTooLarge(64)'],
  ['error InternalCallFailed(bytes data)', 'InternalCallFailed', ['0x0102'], 'InternalCallFailed(0x0102)'],
])('devnet/b20/revertText: decodes %s', (declaration, errorName, args, text) => {
  const errors: Abi = parseAbi([declaration])
  expect(revertText(encodeErrorResult({ abi: errors, errorName, args }))).toBe(text)
})

it.each<[string, string, bigint | number | string]>([
  ['an amount of 257 bits', 'f(uint256)', 2n ** 256n],
  ['a negative amount', 'f(uint256)', -1n],
  ['a policy id of 65 bits', 'f(uint64)', 2n ** 64n],
  ['a policy type of 9 bits', 'f(uint8)', 256],
  ['an address of 21 bytes', 'f(address)', `0x01${'00'.repeat(20)}`],
  ['a flag of two bits', 'f(bool)', 2],
  ['a feature beyond the last one', 'f(enum<3>)', 3],
])('devnet/abi: refuses %s, which its ABI type cannot hold', (_what, signature, value) => {
  expect(() => encodeCall(signature, [value])).toThrow(RangeError)
})

it.each([[undefined], ['0x'], ['0x12345678'], ['0xdb42144d00'], [7], [`0x${'00'.repeat(20_000)}`]])(
  'devnet/b20/revertText: has no text for %j',
  (data) => {
    expect(revertText(data)).toBeUndefined()
  },
)

it('devnet/b20/token: creates an asset whose admin is a minter, and returns the address in the event', async () => {
  const created = toViemHex(fromHex('0xfd9bf2730513a1709722ff379a0844dfd8f997d600693c2bcc659e188bbdba0d'))
  const log = { address: factory, topics: [created, wordOf(token), wordOf(0n)], data: '0x', logIndex: '0x0' }
  const { devnet, sent } = scripted({}, [log])
  const wanted = { name: 'Token', symbol: 'TOK', admin: to, salt, of: { kind: 'asset', decimals: 8 } } as const
  expect((await createToken(devnet, first, wanted)).token).toBe(token)
  const types = parseAbiParameters('(uint8 version, string name, string symbol, address admin, uint8 decimals)')
  const params = encodeAbiParameters(types, [{ version: 1, name: 'Token', symbol: 'TOK', admin: to, decimals: 8 }])
  const grant = encodeFunctionData({ abi, functionName: 'grantRole', args: [mintRole, to] })
  const data = encodeFunctionData({ abi, functionName: 'createB20', args: [0, salt, params, [grant]] })
  expect(sent).toEqual([expect.objectContaining({ to: factory, data, from: first.address })])
})

it('devnet/b20/token: creates a stablecoin with its currency', async () => {
  const { devnet, sent } = scripted({})
  const wanted = { name: 'Dollar', symbol: 'USDX', admin: to, salt, of: { kind: 'stablecoin', currency: 'USD' } } as const
  await expect(createToken(devnet, first, wanted)).rejects.toMatchObject({ code: 'TRANSACTION_FAILED' })
  const types = parseAbiParameters('(uint8 version, string name, string symbol, address admin, string currency)')
  const params = encodeAbiParameters(types, [{ version: 1, name: 'Dollar', symbol: 'USDX', admin: to, currency: 'USD' }])
  const grant = encodeFunctionData({ abi, functionName: 'grantRole', args: [mintRole, to] })
  expect(sent[0]?.data).toBe(encodeFunctionData({ abi, functionName: 'createB20', args: [1, salt, params, [grant]] }))
})

it('devnet/b20/token: mints, transfers with and without a memo, sets policies', async () => {
  const { devnet, sent } = scripted({ [selectors.isInitialized]: wordOf(1n) })
  await mint(devnet, first, token, to, 5n)
  await transfer(devnet, first, token, { to, amount: 6n, memo: undefined })
  await transfer(devnet, first, token, { to, amount: 7n, memo: salt })
  await setPolicy(devnet, first, token, 'executor', 9n)
  expect(sent.map(({ data }) => data)).toEqual([
    encodeFunctionData({ abi, functionName: 'mint', args: [to, 5n] }),
    encodeFunctionData({ abi, functionName: 'transfer', args: [to, 6n] }),
    encodeFunctionData({ abi, functionName: 'transferWithMemo', args: [to, 7n, salt] }),
    encodeFunctionData({ abi, functionName: 'updatePolicy', args: [scopeHash('executor'), 9n] }),
  ])
  expect(new Set(sent.map((call) => call.to))).toEqual(new Set([token]))
})

it('devnet/b20/token: reads a token; only a stablecoin has a currency', async () => {
  const text = (value: string): Hex => encodeAbiParameters(parseAbiParameters('string'), [value])
  const answers: Record<string, Hex> = {
    ...{ [selectors.isInitialized]: wordOf(1n), [selectors.decimals]: wordOf(6n) },
    ...{ '0x06fdde03': text('Dollar'), '0x95d89b41': text('USDX'), '0xe5a6b10f': text('USD') },
    ...{ '0x18160ddd': wordOf(70n), '0x70a08231': wordOf(7n), '0xdb3de624': wordOf(2n) },
  }
  const facts = {
    ...{ name: 'Dollar', symbol: 'USDX', decimals: 6, currency: 'USD', supply: 70n, balances: [{ address: to, balance: 7n }] },
    policies: { sender: 2n, receiver: 2n, executor: 2n, 'mint-receiver': 2n },
  }
  expect(await readToken(scripted(answers).devnet, stablecoin, [to])).toEqual(facts)
  expect(await readToken(scripted(answers).devnet, token, [to])).toEqual({ ...facts, currency: undefined })
})

it('devnet/b20/token: reports a chain without B20 (NO_B20) and an address without a token (NO_B20_TOKEN)', async () => {
  await expect(readDecimals(scripted({}).devnet, token)).rejects.toMatchObject({ code: 'NO_B20' })
  const { devnet } = scripted({ [selectors.isInitialized]: wordOf(0n) })
  await expect(readDecimals(devnet, token)).rejects.toMatchObject({ code: 'NO_B20_TOKEN', message: expect.stringContaining(token) })
})

it('devnet/b20/activation: activates an inactive feature as the admin, and leaves an active one', async () => {
  const inactive = scripted({ [selectors.isActivated]: wordOf(0n), [selectors.admin]: wordOf(admin.address) })
  expect(await ensureActivated(inactive.devnet, testMnemonic, features.policy)).toBe(true)
  const data = encodeFunctionData({ abi, functionName: 'activate', args: [featureHash(features.policy)] })
  expect(inactive.sent).toEqual([expect.objectContaining({ to: '0x8453000000000000000000000000000000000001', data, from: admin.address })])
  const active = scripted({ [selectors.isActivated]: wordOf(1n) })
  expect(await ensureActivated(active.devnet, testMnemonic, features.policy)).toBe(false)
  expect(active.sent).toEqual([])
})

it('devnet/b20/activation: reports an admin whose key is unknown (NO_ACTIVATION_ADMIN), and a chain before Beryl (NO_B20)', async () => {
  const { devnet } = scripted({ [selectors.isActivated]: wordOf(0n), [selectors.admin]: wordOf(to) })
  await expect(ensureActivated(devnet, testMnemonic, features.asset)).rejects.toMatchObject({
    code: 'NO_ACTIVATION_ADMIN',
    message: expect.stringContaining(to),
  })
  await expect(ensureActivated(scripted({}).devnet, testMnemonic, features.asset)).rejects.toMatchObject({ code: 'NO_B20' })
})

it('devnet/b20/policy: creates a policy with members, and changes a list by the type in its id', async () => {
  const id = (1n << 56n) | 2n
  const created = '0x86e83d8a0ea7e2eb8fc5b7ff9a30b5c76a4a6a0a4ba2c1a0f9e1d1fe9a1ff000'
  const { devnet, sent } = scripted({}, [{ address: policyRegistry, topics: [created], data: '0x', logIndex: '0x0' }])
  await expect(createPolicy(devnet, first, 'allowlist', [to])).rejects.toMatchObject({ code: 'TRANSACTION_FAILED' })
  await updateMembers(devnet, first, id, { isMember: true, members: [to] })
  await updateMembers(devnet, first, 2n, { isMember: false, members: [to] })
  expect(sent.map(({ data }) => data)).toEqual([
    encodeFunctionData({ abi, functionName: 'createPolicyWithAccounts', args: [first.address, 1, [to]] }),
    encodeFunctionData({ abi, functionName: 'updateAllowlist', args: [id, true, [to]] }),
    encodeFunctionData({ abi, functionName: 'updateBlocklist', args: [2n, false, [to]] }),
  ])
})

it.each([
  [0n, 'always allow'],
  [(1n << 56n) | 1n, 'always block'],
  [2n, 'blocklist'],
  [(1n << 56n) | 2n, 'allowlist'],
  [(1n << 63n) | (1n << 56n) | 2n, 'not allowlist'],
  [(2n << 56n) | 3n, 'union'],
  [(3n << 56n) | 3n, 'intersect'],
  [(9n << 56n) | 3n, 'unknown type'],
])('devnet/b20/policy: describes id %d as %s', (id, text) => {
  expect(describePolicy(id)).toBe(text)
})
