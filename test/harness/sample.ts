/** True in `npm run test:slow`, which runs the whole of each sampled test. */
const isWhole = process.env['BASALT_TEST_SLOW'] === '1'

/** Returns the sample that `npm test` and `npm run test:system` run, or in `npm run test:slow` the whole. A sample has a case of each rule. */
export const sampleOf = <T>(sample: T, whole: T): T => (isWhole ? whole : sample)
