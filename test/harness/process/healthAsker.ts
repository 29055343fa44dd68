// A process that requests a URL once, `afterMs` after its parent's message. The parent may be busy at that time.
const [url = '', afterMs = '0'] = process.argv.slice(2)

process.once('message', () => {
  setTimeout(async () => {
    const startMs = performance.now()
    const answer = await fetch(url)
    const text = await answer.text()
    process.send?.({ status: answer.status, text, tookMs: performance.now() - startMs }, () => process.exit(0))
  }, Number(afterMs))
})
process.send?.('ready')
