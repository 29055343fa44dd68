// viem's definition of the devnet's second node (`npx basalt devnet --block-time 2s`), which follows flashblocks. Variables for another node: BASALT_RPC, BASALT_WS, BASALT_CONTROL, BASALT_KEY.
import { createPublicClient, createWalletClient, defineChain, http, webSocket } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

const { BASALT_RPC = 'http://127.0.0.1:8645', BASALT_WS = 'ws://127.0.0.1:8646', BASALT_CONTROL = 'http://127.0.0.1:8549' } = process.env
/** Key of the third account that the devnet prints. It is public: use it on this devnet only. */
const { BASALT_KEY = '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a' } = process.env

export const account = privateKeyToAccount(BASALT_KEY)
const http_ = createPublicClient({ transport: http(BASALT_RPC) })
export const chain = defineChain({
  id: await http_.getChainId(),
  name: 'Basalt devnet',
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http: [BASALT_RPC], webSocket: [BASALT_WS] } },
})
export const client = createPublicClient({ chain, transport: http(), pollingInterval: 50 })
export const wallet = createWalletClient({ account, chain, transport: http() })
/** @returns a client for subscriptions, over its own WebSocket */
export const connect = () => createPublicClient({ chain, transport: webSocket(BASALT_WS, { reconnect: false }) })

/** Wrapped ether, which every OP chain has: a deposit emits a log. */
export const weth = '0x4200000000000000000000000000000000000006'

/** Calls a method of the devnet's control port. */
export async function control(method, ...params) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const { result, error } = await (
    await fetch(BASALT_CONTROL, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  ).json()
  if (error) throw new Error(`${method}: ${error.message}`)
  return result
}

/** Returns whether a receipt is of a pending block: its block hash is zero. */
export const isPreconfirmed = ({ blockHash }) => /^0x0+$/.test(blockHash)
/** @returns the current receipt; undefined: the transaction is in no block, sealed or pending */
export const receiptNow = (hash) => client.getTransactionReceipt({ hash }).catch(() => undefined)
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
