// How long until something is painted, and until the questions stand there: median of ten loads.
import { serve } from '../dev/fake.mjs';
import { open } from './open.mjs';

const fake = await serve({});
const { browser, page } = await open(`${fake.url}#open=example`);
await page.locator('article').first().waitFor(); // logged in
const first = [];
const cards = [];
for (let i = 0; i < 10; i++) {
  await page.reload();
  await page.locator('article').first().waitFor();
  cards.push(await page.evaluate(() => performance.now()));
  first.push(await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN));
}
const middle = (l) => l.sort((a, b) => a - b)[l.length >> 1].toFixed(0);
console.log(`first paint ${middle(first)} ms, questions ${middle(cards)} ms`);
await browser.close();
fake.close();
