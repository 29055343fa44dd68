// node examples/waitForPreconfirmation.mjs: sends a transaction, and prints when it is preconfirmed and when its block is sealed.
import { parseEther } from 'viem'
import { account, client, isPreconfirmed, receiptNow, sleep, wallet } from './chain.mjs'

const sentMs = performance.now()
const since = () => `${(performance.now() - sentMs).toFixed(0)} ms`

// one call, which returns the receipt as soon as it exists
const request = await wallet.prepareTransactionRequest({ to: account.address, value: parseEther('0.001') })
const first = await wallet.sendRawTransactionSync({ serializedTransaction: await wallet.signTransaction(request) })
const { transactionHash: hash, blockNumber } = first
console.log(`${isPreconfirmed(first) ? 'preconfirmed' : 'sealed at once'} in block ${blockNumber} after ${since()}`)

// the pending state contains the transaction
const [now, sealed] = await Promise.all(
  ['pending', 'latest'].map((blockTag) => client.getTransactionCount({ address: account.address, blockTag })),
)
console.log(`nonce ${now} in pending, ${sealed} in latest`)

let receipt = first
while (receipt === undefined || isPreconfirmed(receipt)) {
  await sleep(50)
  receipt = await receiptNow(hash)
}
console.log(`sealed in block ${receipt.blockNumber} (${receipt.blockHash}) after ${since()}`)
