import { describe, expect, it } from 'vitest'
import type { NativeFork } from '#chainspec/evmRules'
import { concatBytes } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { addressOfKey, signDigest } from '#lib/secp256k1'
import { runActivationRegistry } from '#nativeContracts/activation/registry'
import { factoryAddress, policyRegistryAddress } from '#nativeContracts/addresses'
import { callDataOf } from '#nativeContracts/kit/args'
import { NativeRevert } from '#nativeContracts/kit/ends'
import { wordOfBytes } from '#nativeContracts/kit/word'
import { runPolicyRegistry } from '#nativeContracts/policy/registry'
import { createNativeRules } from '#nativeContracts/rules'
import { TokenFrame, type TokenVariant } from '#nativeContracts/token/frame'
import { tokenFunctions } from '#nativeContracts/token/token'
import { addressFromBytes, parseAddress } from '#types/ids'
import { call, encode, nameHash } from './abi.ts'
import { CountingHost } from './countingHost.ts'
import { admin, alice, bob, carol } from './tokens.ts'

const token = parseAddress(`0x${'22'.repeat(20)}`)
const memo = `0x${'77'.repeat(32)}` as const
const alwaysBlock = (1n << 56n) | 1n
const unknownPolicy = (1n << 56n) | 99n
const later = 1_795_000_100n
const key = fromHex('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80')
const owner = addressFromBytes(addressOfKey(key))

type Run = (data: Uint8Array, isPrivileged?: boolean) => Uint8Array

/** A token with balances and roles, on a host that counts. */
function prepare(fork: NativeFork, variant: TokenVariant) {
  const host = new CountingHost(token, factoryAddress)
  const rules = createNativeRules({ fork })
  const run: Run = (data, isPrivileged = true) => {
    const frame = new TokenFrame(host, rules, variant, host.selfAddress, host.self, host.caller, isPrivileged)
    return tokenFunctions(rules, variant).call(frame, callDataOf(data))
  }
  run(call('updateSupplyCap(uint256)', 10n ** 20n))
  for (const holder of [factoryAddress, alice]) run(call('mint(address,uint256)', holder, 1_000n))
  for (const name of ['BURN_ROLE', 'SEIZE_ROLE', 'MINT_ROLE']) run(call('grantRole(bytes32,address)', nameHash(name), factoryAddress))
  run(call('updateName(string)', { text: 'Base Asset' }))
  host.reset()
  return { host, run, hasSeize: rules.hasSeize }
}

/** Returns reads and writes of a call; a revert counts too. */
function countsOf({ host, run }: ReturnType<typeof prepare>, data: Uint8Array, isPrivileged = true): [number, number] {
  host.reset()
  try {
    run(data, isPrivileged)
  } catch (error) {
    if (!(error instanceof NativeRevert)) throw error
  }
  return [host.reads, host.writes]
}

type Counts = readonly [number, number]
/** Name, call, counts of V1 and of V2 and V3; undefined: the version lacks it. Order of preparation: calls before the counted one. */
type Footprint = readonly [name: string, data: Uint8Array, v1: Counts | undefined, later: Counts, before?: readonly Uint8Array[]]

const transfer = call('transfer(address,uint256)', bob, 1n)
const approveFactory = call('approve(address,uint256)', factoryAddress, 5n)
const senderScope = nameHash('TRANSFER_SENDER_POLICY')
const block = call('updatePolicy(bytes32,uint64)', senderScope, alwaysBlock)

const common: readonly Footprint[] = [
  ['transfer', transfer, [3, 2], [3, 2]],
  ['transferFrom', call('transferFrom(address,address,uint256)', factoryAddress, bob, 1n), [4, 3], [4, 3], [approveFactory]],
  ['approve', call('approve(address,uint256)', bob, 1n), [0, 1], [0, 1]],
  ['mint', call('mint(address,uint256)', bob, 1n), [5, 2], [5, 2]],
  ['burn', call('burn(uint256)', 1n), [4, 2], [4, 2]],
  ['burnBlocked', call('burnBlocked(address,uint256)', alice, 1n), [4, 2], [4, 2], [block]],
  ['pause', call('pause(uint8[])', [0n]), [1, 1], [1, 1]],
  ['unpause', call('unpause(uint8[])', [0n]), [1, 1], [1, 1]],
  ['updateSupplyCap', call('updateSupplyCap(uint256)', 10n ** 21n), [2, 1], [2, 1]],
  ['updateName', call('updateName(string)', { text: 'New' }), [0, 1], [1, 1]],
  ['updateSymbol', call('updateSymbol(string)', { text: 'NEW' }), [0, 1], [1, 1]],
  ['updateContractURI', call('updateContractURI(string)', { text: 'ipfs://x' }), [0, 1], [1, 1]],
  ['grantRole', call('grantRole(bytes32,address)', nameHash('PAUSE_ROLE'), bob), [1, 1], [1, 1]],
  ['revokeRole', call('revokeRole(bytes32,address)', nameHash('MINT_ROLE'), factoryAddress), [1, 1], [1, 1]],
  ['setRoleAdmin', call('setRoleAdmin(bytes32,bytes32)', nameHash('MINT_ROLE'), nameHash('PAUSE_ROLE')), [1, 1], [1, 1]],
  ['updatePolicy', block, [2, 1], [2, 1]],
  ['a transfer to zero', call('transfer(address,uint256)', 0n, 1n), [1, 0], [1, 0]],
]

const ofAssets: readonly Footprint[] = [
  ['updatePolicy to an unknown policy', call('updatePolicy(bytes32,uint64)', senderScope, unknownPolicy), [0, 0], [0, 0]],
  ['updateMultiplier', call('updateMultiplier(uint256)', 2n * 10n ** 18n), [0, 1], [4, 1]],
  ['updateUIMultiplier', call('updateUIMultiplier(uint256,uint256)', 10n ** 18n, later), undefined, [3, 1]],
  [
    'cancelUIMultiplierUpdate',
    call('cancelUIMultiplierUpdate()'),
    undefined,
    [3, 1],
    [call('updateUIMultiplier(uint256,uint256)', 10n ** 18n, later)],
  ],
  ['seizeWithMemo', call('seizeWithMemo(address,address,uint256,bytes32)', alice, carol, 1n, memo), undefined, [6, 2], [seizable()]],
  ['batchMint of two', call('batchMint(address[],uint256[])', [bob, carol], [1n, 2n]), [11, 4], [11, 4]],
  [
    'announce without calls',
    call('announce(bytes[],string,string,string)', [], { text: 'id' }, { text: '' }, { text: '' }),
    [1, 1],
    [1, 1],
  ],
  ['updateExtraMetadata', call('updateExtraMetadata(string,string)', { text: 'k' }, { text: 'v' }), [0, 1], [1, 1]],
]

function seizable(): Uint8Array {
  return call('updatePolicy(bytes32,uint64)', nameHash('SEIZE_EXEMPT_POLICY'), alwaysBlock)
}

const ofStablecoins: readonly Footprint[] = [
  ['updatePolicy to an unknown policy', call('updatePolicy(bytes32,uint64)', senderScope, unknownPolicy), [1, 0], [0, 0]],
]

const versions: readonly (readonly [NativeFork, TokenVariant, readonly Footprint[]])[] = [
  ...(['beryl', 'cobalt', 'denim'] as const).flatMap((fork) => [
    [fork, 'asset', [...common, ...ofAssets]] as const,
    [fork, 'stablecoin', [...common, ...ofStablecoins]] as const,
  ]),
]

describe.each(versions)('b20/footprints: %s %s', (fork, variant, footprints) => {
  const isFirst = fork === 'beryl'
  const expected = footprints.flatMap(([name, data, v1, next, before]) => {
    const counts = isFirst ? v1 : next
    return counts === undefined ? [] : [{ name, data, counts, before: before ?? [] }]
  })

  it.each(expected)('$name reads and writes as the reference does', ({ data, counts, before }) => {
    const prepared = prepare(fork, variant)
    for (const each of before) prepared.run(each)
    expect(countsOf(prepared, data)).toEqual(counts)
  })

  it('a transfer without privilege reads the policies', () => {
    expect(countsOf(prepare(fork, variant), transfer, false)).toEqual(isFirst ? [5, 2] : [4, 2])
  })

  it('a permit hashes five times, which costs gas from Cobalt on', () => {
    const prepared = prepare(fork, variant)
    const { host, run } = prepared
    const domain = run(call('DOMAIN_SEPARATOR()'))
    const type = nameHash('Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)')
    const struct = keccak256(call('f()', type, owner, bob, 3n, 0n, later).subarray(4))
    const { signature, yParity } = signDigest(keccak256(concatBytes(fromHex('0x1901'), domain, struct)), key)
    const [r, s] = [toHex(signature.subarray(0, 32)), toHex(signature.subarray(32))]
    const data = call('permit(address,address,uint256,uint256,uint8,bytes32,bytes32)', owner, bob, 3n, later, BigInt(27 + yParity), r, s)
    expect(countsOf(prepared, data)).toEqual([3, 2])
    expect(host.charges).toEqual(isFirst ? [] : [36, 36, 60, 66, 48, 3_000])
    expect(run(call('allowance(address,address)', owner, bob))).toEqual(new Uint8Array(32).fill(3, 31))
  })
})

describe('b20/footprints: policies of Denim', () => {
  it('the first createPolicy, updateAllowlist of one account and isAuthorized read and write as the reference does', () => {
    const host = new CountingHost(policyRegistryAddress, admin, 'all')
    const rules = createNativeRules({ fork: 'denim', activationAdmin: admin })
    host.receive(call('activate(bytes32)', nameHash('base.policy_registry')))
    runActivationRegistry(host, rules)
    const countsAfter = (data: Uint8Array) => {
      host.reset()
      host.receive(data)
      const output = runPolicyRegistry(host, rules)
      return { output: toHex(output), counts: [host.reads, host.writes] }
    }
    const policy = (1n << 56n) | 2n
    const createPolicy = call('createPolicy(address,uint8)', admin, 1n)
    expect(countsAfter(createPolicy)).toEqual({ output: toHex(encode(policy)), counts: [2, 5] })
    expect(countsAfter(call('updateAllowlist(uint64,bool,address[])', policy, 1n, [bob])).counts).toEqual([2, 1])
    const isAuthorized = call('isAuthorized(uint64,address)', policy, bob)
    expect(countsAfter(isAuthorized)).toEqual({ output: toHex(encode(1n)), counts: [1, 0] })
  })
})

it('b20/footprints: administration needs its role', () => {
  const { run } = prepare('denim', 'asset')
  const denied = call('AccessControlUnauthorizedAccount(address,bytes32)', factoryAddress, nameHash('PAUSE_ROLE'))
  try {
    run(call('pause(uint8[])', [0n]), false)
    expect.unreachable()
  } catch (error) {
    expect((error as NativeRevert).data).toEqual(denied)
  }
  expect(wordOfBytes(run(call('balanceOf(address)', admin)))).toEqual(new Uint32Array(8))
})
