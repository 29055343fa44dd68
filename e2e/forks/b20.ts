import { encodeAbiParameters, encodeFunctionData, type Hex, keccak256, numberToHex, pad, parseAbi, parseAbiParameters, toHex } from 'viem'
import { expect } from 'vitest'
import type { Cast } from './deeds.ts'
import { quantity, type Receipt, type Rpc } from './reader.ts'

const factory = '0xb20f000000000000000000000000000000000000'
const activationRegistry = '0x8453000000000000000000000000000000000001'
const policyRegistry = '0x8453000000000000000000000000000000000002'
const assetFeature = keccak256(toHex('base.b20_asset'))
/** account of the default mnemonic that may activate features, as on Base's own development chain */
const adminIndex = 5

const abi = parseAbi([
  'function isActivated(bytes32 feature) view returns (bool)',
  'function admin() view returns (address)',
  'function activate(bytes32 feature)',
  'function isB20(address token) view returns (bool)',
  'function createB20(uint8 variant, bytes32 salt, bytes params, bytes[] initCalls) returns (address)',
  'function getB20Address(uint8 variant, address creator, bytes32 salt) view returns (address)',
  'function mint(address to, uint256 amount)',
  'function transfer(address to, uint256 amount) returns (bool)',
  'function balanceOf(address account) view returns (uint256)',
  'function uiMultiplier() view returns (uint256)',
  'function invertedPolicyId(uint64 id) view returns (uint64)',
])
const paramsAbi = parseAbiParameters('(uint8 version, string name, string symbol, address initialAdmin, uint8 decimals) params')
const word = (value: bigint | Hex): Hex => pad(numberToHex(BigInt(value)), { size: 32 })
const supply = 1_000n

/** Actions on the native contracts, from Beryl on. */
export type B20Deeds = {
  act(phase: 'beryl' | 'cobalt' | 'denim'): Promise<void>
  /** @param receiptOf returns the receipt of a transaction in a block */
  checkTransactions(receiptOf: (hash: Hex) => Receipt | undefined): void
  /** Checks calls on the state around the first blocks of Beryl, Cobalt and Denim. @param first their numbers */
  checkCalls(rpc: Rpc, first: Readonly<Record<'beryl' | 'cobalt' | 'denim', number>>, last: number): Promise<void>
}

/** Returns the actions: the feature activated and a token created in Beryl, a transfer in each fork. */
export function b20Deeds({ walletOnL2, l2, fees }: Cast): B20Deeds {
  const [admin, holder] = [walletOnL2(adminIndex), walletOnL2(7)]
  const receiver = pad('0x20', { size: 20 })
  const salt = word(20n)
  const sent = new Map<string, Hex>()
  let token: Hex = '0x'

  async function create(): Promise<void> {
    const activate = encodeFunctionData({ abi, functionName: 'activate', args: [assetFeature] })
    const early = await holder.sendTransaction({ to: activationRegistry, data: activate, gas: 200_000n, ...fees })
    sent.set('activation by another account', early)
    const activation = await admin.sendTransaction({ to: activationRegistry, data: activate, gas: 200_000n, ...fees })
    await l2.waitForTransactionReceipt({ hash: activation })
    sent.set('activation', activation)
    token = await l2.readContract({ address: factory, abi, functionName: 'getB20Address', args: [0, holder.account.address, salt] })
    const given = { version: 1, name: 'Lab', symbol: 'LAB', initialAdmin: admin.account.address, decimals: 6 }
    const params = encodeAbiParameters(paramsAbi, [given])
    const mint = encodeFunctionData({ abi, functionName: 'mint', args: [holder.account.address, supply] })
    const data = encodeFunctionData({ abi, functionName: 'createB20', args: [0, salt, params, [mint]] })
    const creation = await holder.sendTransaction({ to: factory, data, gas: 2_000_000n, ...fees })
    await l2.waitForTransactionReceipt({ hash: creation })
    sent.set('creation', creation)
  }

  const transferTo = (to: Hex): Hex => encodeFunctionData({ abi, functionName: 'transfer', args: [to, 1n] })

  return {
    async act(phase): Promise<void> {
      if (phase === 'beryl') await create()
      sent.set(phase, await holder.sendTransaction({ to: token, data: transferTo(receiver), gas: 200_000n, ...fees }))
    },
    checkTransactions(receiptOf): void {
      const found = (what: string): Receipt => receiptOf(sent.get(what) ?? '0x') ?? expect.fail(`${what} is in no block`)
      expect(found('activation by another account').status).toBe('0x0')
      for (const what of ['activation', 'creation', 'beryl', 'cobalt', 'denim']) expect([what, found(what).status]).toEqual([what, '0x1'])
      for (const phase of ['beryl', 'cobalt', 'denim']) {
        const { logs } = found(phase)
        expect(logs.map(({ address, data }) => [address, data])).toEqual([[token.toLowerCase(), word(1n)]])
      }
    },
    async checkCalls(rpc, first, last): Promise<void> {
      const call = (to: Hex, data: Hex, number: number): Promise<Hex> =>
        rpc<Hex>('eth_call', { from: holder.account.address, to, data }, quantity(number)).catch(
          (error: Error) => `0x${error.message}` as Hex,
        )
      const around = (to: Hex, data: Hex, number: number): Promise<readonly Hex[]> =>
        Promise.all([number - 1, number, number + 1].map((at) => call(to, data, at)))
      const isB20 = encodeFunctionData({ abi, functionName: 'isB20', args: [token] })
      expect(await around(factory, isB20, first.beryl), 'isB20 around Beryl').toEqual(['0x', word(1n), word(1n)])
      const adminData = encodeFunctionData({ abi, functionName: 'admin' })
      const adminWord = word(admin.account.address)
      expect(await around(activationRegistry, adminData, first.beryl), 'admin around Beryl').toEqual(['0x', adminWord, adminWord])
      const isActivated = encodeFunctionData({ abi, functionName: 'isActivated', args: [assetFeature] })
      expect(await call(activationRegistry, isActivated, first.beryl)).toBe(word(0n))
      expect(await call(activationRegistry, isActivated, last)).toBe(word(1n))
      const multiplier = encodeFunctionData({ abi, functionName: 'uiMultiplier' })
      const one = word(10n ** 18n)
      expect(await around(token, multiplier, first.cobalt), 'uiMultiplier around Cobalt').toEqual([
        expect.stringMatching('revert'),
        one,
        one,
      ])
      const inverted = encodeFunctionData({ abi, functionName: 'invertedPolicyId', args: [2n] })
      const bit = word((1n << 63n) | 2n)
      expect(await around(policyRegistry, inverted, first.denim), 'invertedPolicyId around Denim').toEqual([
        expect.stringMatching('revert'),
        bit,
        bit,
      ])
      const refused = expect.stringMatching('revert')
      expect(await around(token, transferTo(token), first.denim), 'a transfer to the token around Denim').toEqual([
        word(1n),
        refused,
        refused,
      ])
      const balance = encodeFunctionData({ abi, functionName: 'balanceOf', args: [holder.account.address] })
      expect(await call(token, balance, last)).toBe(word(supply - 3n))
    },
  }
}
