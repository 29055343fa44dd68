import { describe, expect, it } from 'vitest'
import { type Address, zeroAddress } from '#types/ids'
import { call, nameHash } from './abi.ts'
import { judgedNamed } from './judged.ts'
import { alice, bob, createToken, enough, openNative, send } from './tokens.ts'

const memo = `0x${'77'.repeat(32)}` as const

/** Gas of native frames seen on mainnet under Beryl: gas spent, and the least gas with which the call does not halt if it is more. */
const seen: readonly [name: string, data: Uint8Array, spent: number, least?: number][] = [
  ['DEFAULT_ADMIN_ROLE', call('DEFAULT_ADMIN_ROLE()'), 106],
  ['balanceOf', call('balanceOf(address)', bob), 2_212],
  ['policyId', call('policyId(bytes32)', nameHash('TRANSFER_SENDER_POLICY')), 2_212],
  ['a transfer to zero', call('transfer(address,uint256)', zeroAddress, 0n), 2_218],
  ['a transfer with too little balance', call('transfer(address,uint256)', bob, 1n), 6_518],
  ['approve(0)', call('approve(address,uint256)', bob, 0n), 4_074],
  ['approve(1)', call('approve(address,uint256)', bob, 1n), 23_974],
  ['a transfer', call('transfer(address,uint256)', bob, 0n), 10_574, 11_019],
  ['a transfer to oneself', call('transfer(address,uint256)', alice, 0n), 8_574, 9_019],
  ['transferWithMemo', call('transferWithMemo(address,uint256,bytes32)', bob, 0n, memo), 12_080],
  ['transferFrom of own tokens', call('transferFrom(address,address,uint256)', alice, bob, 0n), 12_780, 14_981],
]

describe.each(judgedNamed(['wasm', 'traced', 'reference']))('b20/knownGas: on $name', ({ evm }) => {
  it.each(seen)('%s costs what mainnet charged', (_name, data, spent, least) => {
    using session = openNative(evm, 'beryl')
    const token = createToken(session)
    expect(enough - send(session, alice, token, data).gasLeft).toBe(BigInt(spent))
    if (least === undefined) return
    const ends = [least - 1, least].map((gas) => {
      using fresh = openNative(evm, 'beryl')
      return send(fresh, alice, createToken(fresh), data, BigInt(gas)).kind
    })
    expect(ends).toEqual(['halt', 'success'])
  })

  it('a transfer costs 100 less from Cobalt on, which reads the policies once', () => {
    using session = openNative(evm, 'cobalt')
    const data = call('transfer(address,uint256)', bob, 0n)
    expect(enough - send(session, alice, createToken(session), data).gasLeft).toBe(10_474n)
  })

  it('an address of the tokens’ form costs the price of its call data and 100, and reverts without data before its creation', () => {
    using session = openNative(evm, 'beryl')
    const uncreated = `0x${'b2'}${'00'.repeat(10)}${'77'.repeat(9)}` as Address
    const before = send(session, alice, uncreated, call('name()'))
    expect(before).toMatchObject({ kind: 'revert', gasLeft: enough - 106n })
    expect(before.output).toHaveLength(0)
  })
})
