import type { Devnet } from '#devnet/startDevnet'

type Shown = Pick<Devnet, 'facts' | 'accounts' | 'owner'>

/** Returns a script that sends a transaction with viem, ready to paste into a file: `node try.mjs`. */
function viemSnippet({ facts, accounts }: Shown): string {
  const [first, second] = accounts
  const to = second?.address ?? `0x${'11'.repeat(20)}`
  return `import { createWalletClient, defineChain, http, parseEther, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

const chain = defineChain({
  id: ${facts.chainId},
  name: 'Basalt devnet',
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http: ['${facts.urls.rpc}'] } },
})
const account = privateKeyToAccount('${first?.privateKey}')
const client = createWalletClient({ account, chain, transport: http() }).extend(publicActions)

const hash = await client.sendTransaction({ to: '${to}', value: parseEther('1') })
const receipt = await client.waitForTransactionReceipt({ hash })
console.log(receipt.status, 'in block', receipt.blockNumber)
`
}

function urlLines({ urls }: Shown['facts']): string {
  return [
    ['JSON-RPC', `${urls.rpc}  ${urls.ws}`],
    ['rollup node', urls.rollup],
    ['verifier', `${urls.verifier}  ${urls.verifierWs}${urls.flashblocks === undefined ? '' : '  with preconfirmations'}`],
    ['L1', urls.l1],
    ...(urls.flashblocks === undefined
      ? []
      : [['flashblocks', `${urls.flashblocks}  flashblocks of the block under construction, every 200 ms`]]),
    ['control', `${urls.control}  a page for browsers; devnet_status, devnet_reorgL1, …`],
  ]
    .map(([name = '', text]) => `  ${name.padEnd(12)} ${text}\n`)
    .join('')
}

const accountLines = ({ accounts }: Shown): string =>
  accounts.map(({ address, privateKey }, index) => `  ${String(index).padStart(2)}  ${address}  ${privateKey}\n`).join('')

/** Returns the text for a person after the start of the devnet. */
export function banner(devnet: Shown): string {
  const { facts, owner } = devnet
  return `
Chain ${facts.chainId} on L1 ${facts.l1ChainId}, a block every ${facts.blockTimeSec} s

${urlLines(facts)}
Accounts with 10,000 ETH on both chains. These keys are public. Use them on this devnet only.
${accountLines(devnet)}
On L1: portal ${facts.contracts.portal}, system config ${facts.contracts.systemConfig}
  owner ${owner.address}  ${owner.privateKey}

A transaction: npm install viem, save this as try.mjs, node try.mjs
${'─'.repeat(72)}
${viemSnippet(devnet)}${'─'.repeat(72)}
Next: basalt devnet tx --to ADDRESS --value 1ether · deposit --value 1ether · withdraw --value 1ether · accounts · b20 · export DIR
Ctrl-C stops everything.
`
}

/** Returns the same for a program: the event `started`. */
export function startedEvent({ facts, accounts, owner }: Shown): Readonly<Record<string, unknown>> {
  return { event: 'started', ...facts, accounts, owner }
}
