import { startDevnet } from 'basalt/devnet'
import { createWalletClient, defineChain, type Hex, http, parseAbi, parseEther, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

/** `increment()` adds one to slot 0, `count()` reads it. Written as bytes, so that the example needs no compiler. */
const code: Hex =
  '0x6034600c60003960346000f360003560e01c806306661abd14601d5763d09de08a14602957600080fd5b60005460005260206000f35b60016000540160005500'
const abi = parseAbi(['function count() view returns (uint256)', 'function increment()'])

describe('a counter on a devnet', () => {
  let devnet: Awaited<ReturnType<typeof startDevnet>>
  let client: ReturnType<typeof connect>

  function connect() {
    const chain = defineChain({
      id: devnet.chainId,
      name: 'devnet',
      nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
      rpcUrls: { default: { http: [devnet.urls.rpc] } },
    })
    const account = privateKeyToAccount(devnet.accounts[0].privateKey)
    return createWalletClient({ account, chain, transport: http(), pollingInterval: 100 }).extend(publicActions)
  }

  beforeAll(async () => {
    devnet = await startDevnet({ blockTimeSec: 1 })
    client = connect()
  })
  afterAll(() => devnet[Symbol.asyncDispose]())

  it('moves ether', async () => {
    const to = '0x00000000000000000000000000000000000000aa'
    const hash = await client.sendTransaction({ to, value: parseEther('1') })
    expect((await client.waitForTransactionReceipt({ hash })).status).toBe('success')
    expect(await client.getBalance({ address: to })).toBe(parseEther('1'))
  })

  it('counts, and the count becomes safe', async () => {
    const deployed = await client.waitForTransactionReceipt({ hash: await client.deployContract({ abi, bytecode: code }) })
    const address = deployed.contractAddress
    if (!address) throw new Error('no contract')
    const hash = await client.writeContract({ address, abi, functionName: 'increment' })
    const { blockNumber } = await client.waitForTransactionReceipt({ hash })
    expect(await client.readContract({ address, abi, functionName: 'count' })).toBe(1n)
    await expect
      .poll(async () => (await client.getBlock({ blockTag: 'safe' })).number, { timeout: 30_000 })
      .toBeGreaterThanOrEqual(blockNumber)
    expect(await client.readContract({ address, abi, functionName: 'count', blockTag: 'safe' })).toBe(1n)
    expect(devnet.status().agreement.kind).toBe('agrees')
  })
})
