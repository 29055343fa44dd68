// node examples/droppedPreconfirmation.mjs: a preconfirmation is a promise of the sequencer, which it may break. The devnet's sequencer does so on
// request: it is paused in the middle of a block, and rebuilds that block afterwards.
import { parseEther } from 'viem'
import { account, control, isPreconfirmed, receiptNow, sleep, wallet } from './chain.mjs'

/** Follows a transaction until it is in a sealed block, and reports each change of its state. */
async function followUntilSealed(hash, onChange) {
  let state = 'sent'
  for (;;) {
    const receipt = await receiptNow(hash)
    const next = receipt ? (isPreconfirmed(receipt) ? 'preconfirmed' : 'sealed') : state === 'preconfirmed' ? 'dropped' : state
    if (next !== state) await onChange(next)
    state = next
    if (state === 'sealed') return receipt
    await sleep(20)
  }
}

const hash = await wallet.sendTransaction({ to: account.address, value: parseEther('0.002') })
let isPaused = false
const receipt = await followUntilSealed(hash, async (state) => {
  console.log(`${hash} ${state}`)
  // an application reverts the effects of a dropped preconfirmation here; the transaction itself is still in the pool
  if (state === 'preconfirmed' && !isPaused) {
    isPaused = true
    await control('devnet_pauseSequencer', 6)
  }
})
console.log(`in block ${receipt.blockNumber}, ${receipt.status}`)
